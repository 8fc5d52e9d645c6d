"""`python -m benchmarks`: measure, print the tables, write JSON and the page of the docs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pinning import one_blas_thread


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for."""
    asked = _parser().parse_args(arguments)
    one_blas_thread()  # before the first import that loads a BLAS

    from benchmarks import page, program
    from benchmarks.machine import describe
    from benchmarks.tables import as_json, as_text

    machine = describe()
    print("\n".join(f"{name}: {value}" for name, value in machine.items()), flush=True)
    if not program.can_compare():
        print(
            "torch, cvxpy or jax is missing, so nothing is compared with what one would write; "
            "pip install 'relu-verify[benchmarks]'",
            file=sys.stderr,
        )
    sizes = program.QUICK if asked.quick else program.FULL
    tables = []
    for table in program.measure(sizes, _progress, asked.against):
        tables.append(table)
        print("\n" + as_text(table), flush=True)
    if asked.json:
        measured = {
            "machine": machine,
            "quick": asked.quick,
            "tables": [as_json(table) for table in tables],
        }
        text = json.dumps(measured, indent=1, ensure_ascii=False)
        asked.json.write_text(text + "\n", encoding="utf-8")
    if asked.docs:
        page.write(tables, machine, "python -m benchmarks" + (" --quick" if asked.quick else ""))


def _progress(what: str) -> None:
    print(f"… {what}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out what takes long")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    parser.add_argument("--docs", action="store_true", help="write docs/benchmarks.md, its figure")
    parser.add_argument(
        "--against", type=Path, metavar="PATH", help="measure the package of another checkout too"
    )
    return parser


if __name__ == "__main__":
    main()
