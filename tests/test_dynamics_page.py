"""docs/dynamics.md is followed from top to bottom: its blocks print what is shown."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

from tests.test_tutorial import mismatch
from verify.relu import dynamics

PAGE = (Path(__file__).parents[1] / "docs/dynamics.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|text)\n(.*?)^```", PAGE, re.M | re.S)


def test_every_block_prints_what_is_shown_under_it() -> None:
    assert [language for language, _ in BLOCKS] == ["python", "text"] * (len(BLOCKS) // 2)
    assert len(BLOCKS) == 2 * 8
    names: dict[str, Any] = {}
    for (_, code), (_, shown) in zip(BLOCKS[::2], BLOCKS[1::2], strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        missing = mismatch(shown.splitlines(), printed.getvalue())
        assert not missing, f"shown: {missing}\nprinted:\n{printed.getvalue()}"
        assert len(shown.splitlines()) == len(printed.getvalue().splitlines())


def test_every_call_is_run_or_named_on_the_page() -> None:
    calls = {name for name in dynamics.__all__ if name.islower()}
    missing = {name for name in calls if not re.search(rf"`{name}`|\b{name}\(", PAGE)}
    assert not missing
    code = "".join(code for language, code in BLOCKS if language == "python")
    only_named = {name for name in calls if not re.search(rf"= {name}\(", code)}
    assert only_named == {"descend_logistic", "margin_point", "stable_rank"}
