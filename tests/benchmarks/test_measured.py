"""What the benchmarks measure is what they say: the same code at sizes of no consequence."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from benchmarks import (
    checkouts,
    floors,
    memory,
    page,
    program,
    sampled,
    tables,
    trial,
    wishart,
    workers,
)
from benchmarks.goals import goals
from benchmarks.pinning import can_choose_cores, one_core, variables
from benchmarks.tables import Table
from benchmarks.timing import Spread
from verify.relu.sampling import explicit_levels

ROOT = Path(__file__).parents[2]

TINY = program.Sizes(
    budget=0.0,
    wishart=((20, 4), (50, 1)),
    stages=((5, 3),),
    flatness=((5, 3),),
    sampled=((5, 100, 2), (100, 300, 1)),
    dimension=(5, (100.0, 1e9)),
    theirs=(),
    memory=((20, 1_000),),
    workers=("gram_concentration", 1e-9),
    against=(("wishart", 5, 5_000.0, 2),),
)


def quiet(what: str) -> None:
    """Show no progress."""


def positive(value: object) -> bool:
    return isinstance(value, Spread) and 0 < value.low <= value.median <= value.high < math.inf


def test_every_table_of_trials_has_what_its_columns_say() -> None:
    measured = (
        wishart.against_floor(TINY.wishart, 0.0, quiet),
        wishart.flatness(TINY.flatness, 0.0, quiet),
        sampled.against_floor(TINY.sampled, 0.0, quiet),
    )
    for table in measured:
        assert table.rows
        for row in table.rows:
            assert set(table.columns) <= set(row)
            assert positive(row["ratio"])
            assert row.get("certified", 1.0) == 1.0
    assert [(row["n"], row["batch"]) for row in measured[0].rows] == list(TINY.wishart)
    assert "yes" in tables.as_text(goals(measured)) or "no" in tables.as_text(goals(measured))


def test_the_stages_are_the_whole_of_a_trial() -> None:
    parts = trial.stages(trial.wishart(5, 5_000), np.random.default_rng(0), 2)
    assert tuple(parts) == trial.STAGES
    assert min(parts.values()) > 0
    assert wishart.by_stage(TINY.stages, quiet).rows[0].keys() >= set(trial.STAGES)


def test_sampled_trials_draw_every_column_and_wishart_trials_none() -> None:
    """A column is drawn where its level has fewer columns than there are examples."""
    for dimension in (2_000, 10**6):
        law = trial.sampled(20, dimension).spectrum
        assert len(law.values) == dimension, "no two eigenvalues are equal"
        assert explicit_levels(20, law, "gaussian").all()
        assert law.values[0] / law.values[-1] - 1 < 2e-5
    assert not explicit_levels(20, trial.wishart(20, 1e12).spectrum, "gaussian").any()


def test_a_trial_is_answered_in_full() -> None:
    found = trial.trial(trial.wishart(20, 20_000), np.random.default_rng(0), 8)
    assert found.certified.all()
    assert found.kkt.shape == (8, 4)
    assert (found.gap > 0).all()
    assert (found.norm > found.gap).all()


def test_the_floors_do_what_a_trial_cannot_do_without() -> None:
    n, d, batch = 4, 50.0, 4_000
    gram = floors.bartlett(n, d, np.random.default_rng(0), batch)()
    mean, deviation = gram.mean(axis=0), math.sqrt(2 * d / batch)
    assert np.abs(mean - d * np.eye(n)).max() < 5 * deviation, "a Wishart matrix has mean d·I"
    assert abs(gram[:, 0, 1].std() - math.sqrt(d)) < 0.1 * math.sqrt(d)
    draw, multiply = floors.sampling(3, 40, np.random.default_rng(0))
    drawn = draw().copy()
    assert np.allclose(multiply(), drawn @ drawn.T)
    assert not np.array_equal(draw(), drawn), "every call draws anew"


def test_the_dimension_is_swept_with_features_as_far_as_they_are_drawn() -> None:
    near, far = sampled.by_dimension(*TINY.dimension, 0.0, quiet).rows
    assert positive(near["sampled"])
    assert positive(far["wishart"])
    assert "sampled" not in far


def test_memory_is_that_of_a_fresh_process() -> None:
    (row,) = memory.peaks(TINY.memory, quiet).rows
    assert 10 < row["loaded"] <= row["peak"] < 1_000
    ballast = np.ones(40_000_000)  # 320 MB, which the fresh process must not be charged with
    (again,) = memory.peaks(TINY.memory, quiet).rows
    assert again["peak"] < row["peak"] + 100 < ballast.nbytes / 1e6


@pytest.mark.skipif(not can_choose_cores(), reason="the system does not choose cores")
def test_one_core_is_one_core_and_ends() -> None:
    before = os.sched_getaffinity(0)
    with one_core():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_variables_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHMARKED", "1")
    monkeypatch.delenv("NOT_BENCHMARKED", raising=False)
    with variables({"BENCHMARKED": None, "NOT_BENCHMARKED": "2"}):
        assert "BENCHMARKED" not in os.environ
        assert os.environ["NOT_BENCHMARKED"] == "2"
    assert os.environ["BENCHMARKED"] == "1"
    assert "NOT_BENCHMARKED" not in os.environ


def test_another_checkout_runs_its_own_package(tmp_path: Path) -> None:
    """A package that is broken on purpose stops there, and this one goes on."""
    (tmp_path / "verify").mkdir()
    (tmp_path / "verify" / "__init__.py").write_text("raise RuntimeError('another package')\n")
    with checkouts.Checkout(ROOT) as here, checkouts.Checkout(tmp_path) as other:
        assert here.seconds("wishart", 5, 5_000.0, 2) > 0
        with pytest.raises(RuntimeError, match="ended while it ran law='wishart', n=5"):
            other.seconds("wishart", 5, 5_000.0, 2)
    with pytest.raises(ValueError, match="holds no verify/__init__"):
        checkouts.Checkout(tmp_path / "nowhere")


def test_the_program_measures_all_and_writes_json_and_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.__main__ import main

    (tmp_path / page.PAGE).write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n")
    monkeypatch.setattr(program, "QUICK", TINY)
    monkeypatch.setattr(program, "can_compare", lambda: False)
    monkeypatch.setattr(workers, "against_one", partial(workers.against_one, examples=10))
    monkeypatch.setattr(page, "write", partial(page.write, folder=tmp_path))
    with variables({}):
        main(["--quick", "--docs", "--json", str(tmp_path / "f.json"), "--against", str(ROOT)])
    printed = capsys.readouterr()
    told = json.loads((tmp_path / "f.json").read_text())
    names = [table["name"] for table in told["tables"]]
    assert names == [
        *("wishart", "stages", "flatness", "sampled", "dimension", "against", "memory", "workers"),
        "goals",
    ]
    assert "numpy" in told["machine"]
    assert {"low", "median", "high"} == set(told["tables"][0]["rows"][0]["ratio"])
    text = (tmp_path / page.PAGE).read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    for table in told["tables"]:
        assert f"### {table['title']}" in text
        assert table["title"] in printed.out
    (row,) = told["tables"][names.index("workers")]["rows"]
    assert row["blocks"] == len(workers.tasks("gram_concentration", 1, 10)) > 0
    assert row["ratio"]["low"] > 0
    assert "extra" not in printed.err
    assert "relu-verify[benchmarks]" in printed.err


def test_the_figure_is_drawn_where_all_of_it_was_measured(tmp_path: Path) -> None:
    spread = Spread(1.0, 2.0, 3.0)
    row = {"n": 20, "milliseconds": spread, "floor": spread}
    larger = {"n": 100, "milliseconds": replace(spread, high=9.0), "floor": spread}
    dimension = [{"n": 20, "d": d, "wishart": spread, "sampled": spread} for d in (1e3, 1e6)]
    theirs = [{"way": way, "n": 20, "d": 2_000, "theirs": spread} for way in ("JAX", "PyTorch")]
    measured = [
        Table(name, name, "", {}, rows)
        for name, rows in (
            ("wishart", [row, larger]),
            ("sampled", [row]),
            ("dimension", dimension),
            ("otherwise", theirs),
        )
    ]
    assert page.drawable(measured)
    assert not page.drawable(measured[:3])
    (tmp_path / page.PAGE).write_text(f"{page.BEGIN}{page.END}")
    page.write(measured, {"cores": "2"}, "python -m benchmarks", tmp_path)
    assert page.FIGURE in (tmp_path / page.PAGE).read_text()
    assert (tmp_path / page.FIGURE).read_text().count("<path") > 20
    with pytest.raises(ValueError, match="page lacks"):
        page.replaced("no markers", "")


def test_the_docs_have_the_place_for_what_is_measured() -> None:
    text = (page.DOCS / page.PAGE).read_text(encoding="utf-8")
    assert text.count(page.BEGIN) == text.count(page.END) == 1
    assert page.replaced(text, "x").count("x\n" + page.END) == 1


def test_help_says_what_there_is() -> None:
    command = [sys.executable, "-m", "benchmarks", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {"--quick", "--json", "--docs", "--against"} <= set(done.stdout.split())
