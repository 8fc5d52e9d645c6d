"""One counterexample, written as everything that a reader may want of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from verify import counterexample
from verify.counterexample import Counterexample
from verify.theorem import Theorem


@dataclass(frozen=True)
class Published:
    """The files of a counterexample: the record, for programs and `replay`; the text and the LaTeX
    block, for people; and the stand-alone checker, or None with the reason why there is none."""

    record: Path
    text: Path
    latex: Path
    checker: Path | None
    unchecked: str = ""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that were written."""
        found = (self.record, self.text, self.latex, self.checker)
        return tuple(path for path in found if path is not None)


def publish(
    example: Counterexample, folder: str | Path, stem: str, theorem: Theorem | None = None
) -> Published:
    """Write STEM.json, STEM.txt, STEM.tex and, for an exact counterexample to a theorem that has
    a checker, STEM_check.py.

    theorem: the example's; looked up by its name if it is not given. Raises InputError where a
    file cannot be written, UnknownName where the theorem is not found.
    """
    record = Path(folder) / f"{stem}.json"
    counterexample.write(example, record)
    raise NotImplementedError("the texts and the checker are being written")
