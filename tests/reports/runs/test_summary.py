"""One sentence and one exit code for a run: nothing that went wrong may hide in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reports.runs.running import error_share, stems_of
from reports.runs.summary import exit_code, sentence, write
from verify import Verdict, check, load_file
from verify.errors import InputError
from verify.verdict import Conclusion

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    return check(load_file(EXAMPLES / "least_squares.py"), trials=40)[0]


def concluded(verdict: Verdict, conclusion: Conclusion, control: bool = False) -> Verdict:
    expected = Conclusion.REFUTED if control else Conclusion.SUPPORTED
    return replace(verdict, verdict=conclusion, expected=expected)


@pytest.mark.parametrize(
    ("conclusion", "code"),
    [
        (Conclusion.CERTIFIED, 0),
        (Conclusion.SUPPORTED, 0),
        (Conclusion.REFUTED, 1),
        (Conclusion.VACUOUS, 3),
        (Conclusion.INCONCLUSIVE, 3),
        (Conclusion.UNDECIDED, 3),
    ],
)
def test_the_exit_code_of_a_claim(verdict: Verdict, conclusion: Conclusion, code: int) -> None:
    assert exit_code([concluded(verdict, conclusion)]) == code
    good = concluded(verdict, Conclusion.SUPPORTED)
    assert exit_code([good, concluded(verdict, conclusion), good]) == code


@pytest.mark.parametrize("conclusion", [c for c in Conclusion if c != "refuted"])
def test_a_control_that_is_not_refuted_fails_the_run(
    verdict: Verdict, conclusion: Conclusion
) -> None:
    good = concluded(verdict, Conclusion.SUPPORTED)
    control = concluded(verdict, conclusion, control=True)
    assert exit_code([good, control]) == 1
    assert "the evidence is void" in sentence([good, control])


def test_a_refutation_outranks_what_is_unsettled(verdict: Verdict) -> None:
    vacuous = concluded(verdict, Conclusion.VACUOUS)
    refuted = concluded(verdict, Conclusion.REFUTED)
    assert exit_code([vacuous, refuted]) == exit_code([refuted, vacuous]) == 1


def test_the_sentence_counts_every_conclusion(verdict: Verdict) -> None:
    verdicts = [concluded(verdict, conclusion) for conclusion in Conclusion]
    verdicts.append(concluded(verdict, Conclusion.REFUTED, control=True))
    told = sentence(verdicts)
    assert told.startswith("Of 6 claims, 1 certified, 1 supported, 1 refuted, 1 vacuous")
    assert "the control is refuted, as it must be" in told


@pytest.mark.parametrize(
    ("claims", "controls", "told"),
    [
        ("", "", "No claim was checked; there are no controls."),
        ("s", "r", "The claim is supported; the control is refuted, as it must be."),
        ("sss", "rr", "All 3 claims are supported; all 2 controls are refuted, as they must be."),
        ("sv", "", "Of 2 claims, 1 supported, 1 vacuous; there are no controls."),
        ("r", "s", "The claim is refuted; the control is not refuted: the evidence is void."),
        (
            "s",
            "rsr",
            "The claim is supported; only 2 of 3 controls are refuted: the evidence is void.",
        ),
    ],
)
def test_the_sentence_reads_well_whatever_the_numbers(
    verdict: Verdict, claims: str, controls: str, told: str
) -> None:
    words = {"s": Conclusion.SUPPORTED, "r": Conclusion.REFUTED, "v": Conclusion.VACUOUS}
    verdicts = [concluded(verdict, words[word]) for word in claims]
    verdicts += [concluded(verdict, words[word], control=True) for word in controls]
    assert sentence(verdicts) == told


def test_built_in_theorems_share_the_error_and_a_users_own_has_it_in_full() -> None:
    from properties.catalogue import MODULES, find_theorem

    shares = [error_share(find_theorem(name), 0.95) for name in MODULES]
    assert sum(shares) == pytest.approx(0.05)
    assert error_share(load_file(EXAMPLES / "least_squares.py"), 0.95) == pytest.approx(0.05)


def test_an_id_alone_makes_no_theorem_built_in() -> None:
    theorem = replace(load_file(EXAMPLES / "least_squares.py"), id="lai2026.theorem1")
    assert error_share(theorem, 0.95) == pytest.approx(0.05)


def test_files_of_one_name_get_counterexamples_of_their_own(tmp_path: Path) -> None:
    theorems = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        file = tmp_path / folder / "least_squares.py"
        file.write_bytes((EXAMPLES / "least_squares.py").read_bytes())
        theorems.append(load_file(file))
    assert len(set(stems_of(theorems).values())) == 2
    assert list(stems_of(theorems[:1]).values()) == ["least_squares"]


def test_a_report_that_cannot_be_written_leaves_nothing_half_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.html.render.render", lambda report: "\udcff")
    write({"out": "\udcff"}, tmp_path)
    assert (tmp_path / "report.html").read_text() == "\\udcff"
    (tmp_path / "report.json").unlink()
    (tmp_path / "report.json").mkdir()
    with pytest.raises(InputError, match=r"report\.json cannot be written"):
        write({}, tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"report.json", "report.html"}
