"""Write features.csv and labels.csv: 12 examples, 600 features, two classes.

The features are independent standard normal, so that with d much larger than n the rows are
nearly orthogonal; half of the labels, drawn blindly, are "treated". From the same seed
come the same bytes.

    python examples/data/make_example.py [FOLDER]
"""

import csv
import sys
from pathlib import Path

import numpy as np

SEED, N, D = 2026, 12, 600


def write(folder: Path) -> None:
    """Write both files into an existing folder."""
    rng = np.random.default_rng(SEED)
    features = rng.standard_normal((N, D))
    treated = rng.permutation(N) < N // 2
    write_table(
        folder / "features.csv",
        [[f"x{j}" for j in range(1, D + 1)], *([f"{x:.3f}" for x in row] for row in features)],
    )
    write_table(
        folder / "labels.csv",
        [["class"], *(["treated" if is_treated else "control"] for is_treated in treated)],
    )


def write_table(file: Path, rows: list[list[str]]) -> None:
    """Write rows of cells as CSV, with the same line ends on every platform."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
