"""Commands that take theorems by name: families, and what a short name is taken for."""

from __future__ import annotations

import pytest

from properties.catalogue import family


@pytest.mark.parametrize("command", ["list", "explain"])
@pytest.mark.parametrize("name", ["frei2023", "frei2023.*"])
def test_a_family_is_told_theorem_by_theorem(call, command, name):
    code, out, err = call(command, name)
    assert (code, err) == (0, "")
    alone = [call(command, each)[1] for each in family("frei2023")]
    assert [out.index(text.strip()) for text in alone] == sorted(
        out.index(text.strip()) for text in alone
    )


@pytest.mark.parametrize("command", ["list", "explain"])
def test_a_short_name_of_several_theorems_says_what_it_is_taken_for(call, command):
    code, out, err = call(command, "theorem3")
    assert code == 0
    assert out == call(command, "lai2026.theorem3")[1]
    assert err.splitlines() == [
        "relu-verify: theorem3 is taken for lai2026.theorem3; there is vardi_shamir2021.theorem3 "
        "too"
    ]


@pytest.mark.parametrize("arguments", [["run", "theorem3"], ["ablate", "theorem3"]])
def test_long_commands_say_it_too_before_they_begin(call, arguments, tmp_path, monkeypatch):
    def began(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("reports.runs.running.require_usable", began)
    monkeypatch.setattr("verify.engine.executors.require_executor", began)
    code, out, err = call(*arguments, "--out", tmp_path)
    assert (code, out) == (130, "")
    assert "taken for lai2026.theorem3; there is vardi_shamir2021.theorem3 too" in err


def test_a_family_runs_whole(call, tmp_path, monkeypatch):
    begun = []

    def began(theorems, *_rest):
        begun.extend(theorem.id for theorem in theorems)
        raise KeyboardInterrupt

    monkeypatch.setattr("reports.runs.whole.carry_out", lambda _run, chosen, *_: began(chosen))
    code, _, err = call("run", "vardi_shamir2021.*", "--out", tmp_path / "out")
    assert (code, begun) == (130, family("vardi_shamir2021"))
    assert "taken for" not in err


@pytest.mark.parametrize("name", ["frei2023", "frei2023.*"])
def test_the_folder_of_a_family_is_called_after_it(name):
    from reports.commands.run import _default_folder

    assert str(_default_folder((name,), None)) == "relu-verify-out/frei2023"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ablate", "frei2023.*"], "family of 2 theorems, expected one: write frei2023.prop"),
        (["frontier", "theorem3", "--x", "d"], "lai2026.theorem3, expected one of its claims"),
        (["search", "frei2023"], "family of 2 theorems, expected a claim"),
    ],
)
def test_where_one_is_needed_a_family_says_what_to_write(call, arguments, message):
    code, _, err = call(*arguments)
    assert code == 2
    assert message in err
