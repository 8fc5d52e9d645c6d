"""Every counterexample in properties/pinned does, today, what it must."""

from __future__ import annotations

from pathlib import Path

import pytest

from properties.catalogue import find_theorem
from properties.pinned import OWN, pins_in, require_as_pinned
from verify.counterexample import read

CASES = [pytest.param(file, id=file.stem) for file in pins_in(OWN)]


@pytest.mark.parametrize("file", CASES)
def test_pinned_counterexample_does_what_it_must(file: Path) -> None:
    require_as_pinned(find_theorem(read(file).theorem), file)
