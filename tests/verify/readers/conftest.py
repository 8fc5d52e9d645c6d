"""A pickle that must not be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.readers.helpers import Bomb


@pytest.fixture
def bomb(tmp_path: Path) -> Bomb:
    return Bomb(tmp_path / "trace")
