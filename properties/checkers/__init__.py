"""Stand-alone checkers of exact counterexamples: resources that are copied, never imported.

A checker is one Python file, standard library only, with the line `RECORD = None`. What is written
beside a counterexample has the counterexample's file in place of `None`, as a string.
"""

from functools import cache
from pathlib import Path


@cache
def source(name: str) -> str:
    """Return the text of the checker called `name`: "relu" for shallow ReLU networks."""
    return (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")
