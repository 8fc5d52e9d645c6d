"""The options of `pytest --theorem`; what they do is in `properties.plugin`.

Every pytest that runs beside relu-verify imports this. So it is cheap, and of a name that no
project has: a user's own package `properties` must not break the user's tests.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("theorems", "theorems as tests (relu-verify)")
    group.addoption(
        "--theorem",
        action="append",
        default=[],
        metavar="FILE",
        help="Test the theorem in this Python file, or a built-in one by its id, or those of "
        "a paper by the first part of their ids: search each universal claim, require the "
        "expected verdict on every claim and control, and replay the "
        "counterexamples that `relu-verify pin` keeps for it. May be given several times; without "
        "other arguments, nothing else is collected.",
    )
    group.addoption(
        "--theorem-profile",
        choices=("quick", "full", "nightly"),
        default="quick",
        help="How much evidence to gather (default: quick).",
    )
    group.addoption(
        "--theorem-seed", type=int, default=0, metavar="N", help="Root of all randomness."
    )
    group.addoption(
        "--theorem-shard",
        metavar="I/K",
        help="Do only the I-th of K shares: of each search the examples of its own seeds, and of "
        "verdicts and pinned counterexamples every K-th, whole. `pytest properties` of "
        "relu-verify's own repository takes every K-th test.",
    )
    group.addoption(
        "--theorem-pinned",
        action="append",
        default=[],
        metavar="DIR",
        help="A folder of pinned counterexamples besides FILE.pinned/ and pinned/, as in "
        "`relu-verify pin --into DIR`. May be given several times.",
    )


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--theorem"):
        return
    try:
        from properties.plugin import Theorems
    except ModuleNotFoundError as reason:
        raise pytest.UsageError(
            f"--theorem: {reason}; another package of that name hides relu-verify's: run `pytest` "
            "in place of `python -m pytest`, in a folder that does not have it"
        ) from reason
    config.pluginmanager.register(Theorems(config))
