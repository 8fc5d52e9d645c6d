"""Matrices, refusals and pickles that the tests of readers share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from verify.errors import InputError

X = np.array([[1.0, 0.0, -2.5, 0.0], [0.0, 4.0, 0.0, 6e-3], [7.0, 0.0, 0.0, 8.0]])
KINDS = ["ill", "well", "ill"]


def refusal(
    read: Callable[..., Any], *arguments: Any, error: type[Exception] = InputError, **named: Any
) -> str:
    """The message of the error, which must be one sentence."""
    with pytest.raises(error) as caught:
        read(*arguments, **named)
    assert caught.type is error
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    assert ": expected " in message
    assert "; " in message
    return message


class Bomb:
    """A pickle that leaves a trace where it is loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self.trace), "w"))
