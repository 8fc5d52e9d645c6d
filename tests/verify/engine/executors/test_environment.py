"""Processes that would give other records are told apart, and what to do about them."""

import os
import platform
import subprocess
import sys
from dataclasses import replace

import pytest

from verify.engine.executors.environment import environment
from verify.engine.executors.orders import Order
from verify.errors import BackendUnavailable

MINE = environment({"verify", "properties"})
ROUNDING = """
from verify.engine.executors.environment import environment
print(environment({"verify"}).rounding)
"""


def rounding_elsewhere(**variables):
    done = subprocess.run(
        [sys.executable, "-c", ROUNDING],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_another_process_of_this_machine_rounds_as_this_one_does():
    assert rounding_elsewhere() == MINE.rounding
    assert rounding_elsewhere(OPENBLAS_NUM_THREADS="2") == MINE.rounding


@pytest.mark.skipif(
    platform.machine() != "x86_64" or "openblas" not in MINE.kernels,
    reason="the kernels are chosen as OpenBLAS does it on x86-64",
)
def test_kernels_of_another_processor_round_differently():
    assert rounding_elsewhere(OPENBLAS_CORETYPE="Prescott") != MINE.rounding


def test_equal_environments_do_not_differ():
    assert MINE.difference(environment({"verify", "properties"})) == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"versions": {**MINE.versions, "numpy": "1.0"}}, r"has numpy 1\.0 where .* is expected"),
        ({"versions": {**MINE.versions, "scipy": ""}}, "has scipy none where .*: install that"),
        ({"versions": {**MINE.versions, "Python": "3.10"}}, "has Python 3.10 where 3"),
        ({"sources": {**MINE.sources, "verify": "0"}}, "other sources of the package 'verify'"),
        ({"rounding": "0", "kernels": "another"}, "another where .*: start all.*OPENBLAS_CORETYPE"),
    ],
)
def test_what_differs_is_said_with_what_to_do(change, said):
    other = replace(MINE, **change)
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(MINE.difference(other))
    order = replace(Order.of(abs), sender=("elsewhere", 1), environment=other)
    with pytest.raises(BackendUnavailable, match=rf"the worker on {platform.node()} has|rounds"):
        order.carried_out(-4)


def test_an_order_for_an_equal_process_is_carried_out():
    order = replace(Order.of(abs), sender=("elsewhere", 1))
    assert order.carried_out(-4) == 4
