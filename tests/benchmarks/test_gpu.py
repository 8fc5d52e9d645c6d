"""benchmarks/gpu.py with torch on the CPU: the code that a GPU would run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import gpu
from benchmarks.trial import wishart
from verify.arrays import Backend, backend
from verify.relu import Problem


def test_torch_agrees_with_numpy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "gpu.json"
    arguments = ["--backend", "torch", "--json", str(file)]
    code = gpu.main(arguments, checked=((20, 64),), measured=((5, 4),), budget=0.0)
    assert code == 0
    answered, timed = json.loads(file.read_text())["tables"]
    one, two = answered["rows"]
    assert (one["neurons"], two["neurons"]) == (1, 2)
    assert one["moving"] > 0, "patterns that never move would be easy to agree on"
    assert one["certified"] > 32 < two["certified"]
    assert {"core", "there", "ratio", "draw", "answers"} <= set(timed["rows"][0])
    assert "torch against numpy" in capsys.readouterr().out


def test_other_answers_are_seen() -> None:
    """A backend that changes one label of one problem does not pass."""

    class Wrong(Backend):
        def asarray(self, host: np.ndarray) -> np.ndarray:
            moved = np.array(host)
            if moved.shape == (8, 20):
                moved[3, 0] *= -1.0
            return moved

    there = Wrong("wrong", backend("numpy").namespace)
    law = replace(wishart(20, 20_000), signs=(1,))
    problem: Problem = law.draw(np.random.default_rng(0), 8)
    found = gpu.differences(problem, there)
    assert found["patterns"] == 1
    assert found["limit"] > 0.01
    assert found["norm"] > 0.01
    (row, _) = gpu.agreement(((20, 8),), there, lambda what: None).rows
    assert not row["agrees"]


def test_no_gpu_is_said_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unavailable(name: str) -> Backend:
        raise gpu.BackendUnavailable(f"backend={name!r} cannot be used here; use --backend numpy")

    monkeypatch.setattr(gpu, "backend", unavailable)
    assert gpu.main([]) == gpu.UNAVAILABLE == 4
    printed = capsys.readouterr()
    assert printed.err.startswith("backend='cupy' cannot be used here")
    assert printed.err.count("\n") == 1
    assert not printed.out
