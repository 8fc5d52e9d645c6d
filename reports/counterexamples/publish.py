"""One counterexample, written as everything that a reader may want of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from properties.catalogue import find_theorem
from reports.counterexamples.checker import checker_of
from reports.counterexamples.latex import latex
from reports.counterexamples.readable import readable
from verify import counterexample
from verify.counterexample import Counterexample
from verify.theorem import Theorem
from verify.writing import write_text


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


ENDINGS = (".json", ".txt", ".tex", "_check.py")
"""Of the files of a counterexample: record, text, LaTeX block, checker."""


def names(stem: str) -> list[str]:
    """Return the names of every file that `publish` may write."""
    return [f"{stem}{ending}" for ending in ENDINGS]


def publish(
    example: Counterexample, folder: str | Path, stem: str, theorem: Theorem | None = None
) -> Published:
    """Write STEM.json, STEM.txt, STEM.tex and, of an exact counterexample to a theorem that has
    a checker, STEM_check.py. A checker of that name that is there is removed if none is written.

    theorem: the example's; looked up as `replay` does if it is not given. Raises InputError where
    a file cannot be written, UnknownName where the theorem is not found.
    """
    known = theorem_of(example) if theorem is None else theorem
    record, text, block, checker = (Path(folder) / name for name in names(stem))
    source, unchecked = checker_of(known, example)
    counterexample.write(example, record)
    write_text(text, readable(example, record.name, checker.name if source else "", known))
    write_text(block, latex(example, known))
    if source:
        write_text(checker, source)
    else:
        checker.unlink(missing_ok=True)
    return Published(record, text, block, checker if source else None, unchecked)


def theorem_of(example: Counterexample, place: str | None = None) -> Theorem:
    """Return the theorem of a counterexample; place: where it is, if its file has moved.

    Raises UnknownName where there is none.
    """
    where = place or example.theorem
    moved = where.endswith(".py") and not os.path.isfile(where)
    if place is None and moved and os.path.isfile(example.theorem_file):
        where = example.theorem_file
    return find_theorem(where)
