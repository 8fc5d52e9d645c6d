"""Write digits.svm: 60 images of handwritten digits, 8 × 8 pixels of 0 to 16, svmlight text.

The first 60 of a seeded permutation of scikit-learn's digits, which are the test part of
Alpaydin and Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository,
1998, https://doi.org/10.24432/C50P49, licence CC BY 4.0. Needs scikit-learn.

    python examples/data/make_digits.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

SEED, N = 0, 60

SOURCE = (
    "# 60 of the handwritten digits of E. Alpaydin and C. Kaynak (1998), UCI Machine Learning\n"
    "# Repository, https://doi.org/10.24432/C50P49, CC BY 4.0; label, then pixel:grey of 8 x 8.\n"
)


def write(folder: Path) -> None:
    """Write the file into an existing folder."""
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    chosen = np.random.default_rng(SEED).permutation(len(labels))[:N]
    (folder / "digits.svm").write_text(as_svmlight(images[chosen], labels[chosen]))


def as_svmlight(images: np.ndarray, labels: np.ndarray) -> str:
    """Return images (n, d) and labels (n,) of whole numbers as svmlight text."""
    lines = []
    for image, label in zip(images, labels, strict=True):
        pixels = " ".join(f"{j}:{grey:g}" for j, grey in enumerate(image, 1) if grey)
        lines.append(f"{label} {pixels}\n")
    return SOURCE + "".join(lines)


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
