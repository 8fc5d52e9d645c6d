"""Counterexamples as they are published: files, texts, LaTeX, and a checker that stands alone."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from properties.catalogue import MODULES, find_theorem
from reports.cli import main
from reports.counterexamples.checker import checker_of
from reports.counterexamples.compare import differences
from reports.counterexamples.latex import latex
from reports.counterexamples.numbers import grid
from reports.counterexamples.publish import publish
from reports.counterexamples.readable import readable
from reports.counterexamples.tex import prose, typewriter
from tests.properties.checkers.records import DOUBLING, FREEZING, GAP, changed, confirmed
from tests.reports.counterexamples.typesetting import typeset
from tests.verify.engine.toys import write_theorem
from verify import counterexample
from verify.confirm import confirm
from verify.counterexample import FLOATING, captured
from verify.errors import InputError, TheoremError
from verify.loading import load_file


def small(features, labels, start, c):
    """Return the recipe of a small problem."""
    sizes = {"n": len(features), "d": len(features[0])}
    return {"values": {**sizes, "features": features, "labels": labels, "start": start, "c": c}}


IDENTITY = small([[1, 0], [0, 1]], [1, -1], [1, 1], 8)
EXAMPLES = {
    "gap": confirmed(*GAP, IDENTITY).example,
    "freezing": confirmed(*FREEZING, small([[-1, -1], [-1, 0]], [2, -2], [1, 1], 8)).example,
    "doubling": confirmed(*DOUBLING, small([[0, 0, 2], [2, -2, 0]], [1, -3], [1, 1], 16)).example,
    "drawn": confirmed(*GAP, {"point": {"n": 4, "d": 50.0, "c": 0.5}, "seed": 1}, "seeded").example,
    "pair": confirmed(
        "lai2026.theorem3",
        "decouples_from_random_signs",
        (),
        {"values": {**IDENTITY["values"], "m": 2, "start": [[-1, 1], [1, 1]]}},
    ).example,
}
FLOATS = captured(
    find_theorem(GAP[0]),
    find_theorem(GAP[0]).claim(GAP[1]),
    "small",
    IDENTITY,
    -0.46874853553617306,
    seed=7,
)


@pytest.fixture
def published(tmp_path):
    """The files of one exact counterexample."""
    return publish(EXAMPLES["gap"], tmp_path, "gap")


def bare(*arguments):
    """Run a bare Python, without site packages and without this folder."""
    command = [sys.executable, "-I", "-S", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)


def replayed(capsys, *arguments):
    """Run `relu-verify replay`; return exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as ended:
        main(["replay", *map(str, arguments)])
    return (int(ended.value.code or 0), *capsys.readouterr())


# the checker


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_checker_passes_in_a_bare_python(name, tmp_path):
    files = publish(EXAMPLES[name], tmp_path, "it")
    for arguments in ([], [files.record]):
        done = bare(files.checker, *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"{EXAMPLES[name].claim} is violated" in done.stdout


def test_the_checker_says_what_is_wrong(published, tmp_path):
    record = json.loads(published.record.read_text())
    other = changed(record, ("exact", "problem", "labels", 0), "2")
    (tmp_path / "other.json").write_text(json.dumps(other))
    done = bare(published.checker, tmp_path / "other.json")
    assert done.returncode == 1
    assert done.stdout == "WRONG: problem: starting_residual is another\n"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "\x00", '{"format": 1}', "[" * 100_000])
def test_the_checker_refuses_what_is_no_record(published, tmp_path, text):
    (tmp_path / "other.json").write_text(text)
    done = bare(published.checker, tmp_path / "other.json")
    assert done.returncode == 1
    assert done.stdout.startswith("WRONG: ")
    assert done.stderr == ""


def test_a_number_changed_in_the_checker_itself_is_noticed(published):
    text = published.checker.read_text()
    assert text.count('"225/1024"') == 1
    published.checker.write_text(text.replace('"225/1024"', '"224/1024"'))
    assert bare(published.checker).returncode == 1


def test_the_checker_stands_alone(published):
    imported = re.findall(r"^(?:import|from) (\w+)", published.checker.read_text(), re.MULTILINE)
    assert sorted(imported) == ["fractions", "hashlib", "json", "re", "sys"]


@pytest.mark.parametrize("statement", ["'''", '"""', "\\", "\\N{x}", "\u202e", "\udcff", "{}"])
def test_no_statement_breaks_out_of_the_checker(tmp_path, statement):
    example = replace(EXAMPLES["gap"], statement=f"It says {statement}")
    source, _ = checker_of(find_theorem(GAP[0]), example)
    (tmp_path / "check.py").write_text(source, encoding="ascii")
    assert bare(tmp_path / "check.py").returncode == 0


def test_without_a_checker_the_reason_is_told(tmp_path):
    (tmp_path / "it_check.py").write_text("of a former counterexample")
    files = publish(FLOATS, tmp_path, "it")
    assert files.checker is None
    assert "only floating point knows it" in files.unchecked
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["it.json", "it.tex", "it.txt"]
    known = find_theorem(GAP[0])
    without = replace(known, exact=replace(known.exact, checker=None))
    assert (
        "has no stand-alone checker" in publish(EXAMPLES["gap"], tmp_path, "it", without).unchecked
    )


def test_a_checker_without_place_for_the_record_is_refused():
    known = find_theorem(GAP[0])
    odd = replace(known, exact=replace(known.exact, checker="print('all is well')\n"))
    with pytest.raises(TheoremError, match=r"has 0 lines 'RECORD = None', expected one"):
        checker_of(odd, EXAMPLES["gap"])


# the text


@pytest.mark.parametrize("example", [*EXAMPLES.values(), FLOATS], ids=[*EXAMPLES, "floats"])
def test_the_text_fits_a_terminal(example):
    text = readable(example, "it.json", "it_check.py")
    assert max(map(len, text.splitlines())) <= 100
    assert example.claim in text
    assert "relu-verify replay it.json" in text


def test_the_text_shows_the_problem_the_steps_and_both_sides():
    text = readable(EXAMPLES["gap"], "it.json", "it_check.py")
    for part in (
        "X = 1  0\n    0  1\n",
        "y = 1  -1\n",
        "β⁰ = Xw⁰ = 1/16  1/16\n",
        "η = 1/2 = 0.5    φ'(0) = 0\n",
        "  1:    17/32  -15/32\n",
        "Violated: ‖w_∞ − w⋆‖² ≤ 10⁻¹² ‖w⋆‖²\n",
        "  225/1024 ≈ 0.219727  >  10⁻¹²\n",
        "start_is_positive: min β⁰ = 1/16 > 0\n",
        "python3 -I -S it_check.py\n",
    ):
        assert part in text


def test_the_text_says_what_was_dropped_and_by_how_much_it_fails():
    text = readable(EXAMPLES["freezing"], "it.json")
    assert "  Dropped: dimension_is_high\n" in text
    assert "Dropped:\n  dimension_is_high: d = 2 where ≥ 5000 n = 10000 is required\n" in text
    assert "Without exact form, held in floating point: tails_are_light\n" in text
    assert "_check.py" not in text


def test_the_text_of_a_counterexample_in_floating_point_has_its_facts():
    text = readable(FLOATS, "it.json")
    assert "Known: floating point, beyond its rounding bound; margin -0.468749" in text
    assert "In scope of the claim, outside the theorem's: start_is_small" in text
    assert "Found by a search with seed 7.\n" in text
    assert "--exact" not in text


@pytest.mark.parametrize("name", ["problem", "steps"])
@pytest.mark.parametrize("value", [None, [], {}, {"labels": "x"}, [["1"]]])
def test_a_document_of_another_kind_is_told_as_it_is(name, value):
    exact = {**EXAMPLES["gap"].exact, name: value}
    example = replace(EXAMPLES["gap"], exact=exact)
    assert "225/1024" in readable(example, "it.json")
    assert "\\tfrac{225}{1024}" in latex(example, find_theorem(GAP[0]))


def test_a_matrix_too_wide_goes_on_below_with_its_rows_named():
    rows = [["1", "-22/7", "3"], ["1/2", "5", "666"]]
    assert grid(rows, 15) == ["  1  -22/7    3", "1/2      5  666"]
    assert grid(rows, 14, ["0:", "1:"]) == [
        "columns 1 to 2:",
        "0:    1  -22/7",
        "1:  1/2      5",
        "columns 3 to 3:",
        "0:    3",
        "1:  666",
    ]


# LaTeX


def test_the_block_has_matrices_fractions_and_the_inequality():
    text = latex(EXAMPLES["gap"], find_theorem(GAP[0]))
    for part in (
        r"to \texttt{limit\_\allowbreak is\_\allowbreak the\_",
        r"X = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}",
        r"\begin{bmatrix} \tfrac{17}{32} \\ -\tfrac{15}{32} \end{bmatrix}",
        r"\eta = \tfrac{1}{2}",
        r"\tfrac{225}{1024} \not\le 10^{-12}",
        r"\ensuremath{w_{\infty }}",
    ):
        assert part in text


def statements():
    """Return every statement of the built-in theorems, and what their symbols mean."""
    theorems = [find_theorem(name) for name in MODULES]
    for theorem in theorems:
        yield from (x.statement for x in (*theorem.stated, *theorem.assumptions))
        yield from theorem.symbols
        yield from theorem.symbols.values()


def test_every_statement_has_its_symbols_in_latex():
    for statement in statements():
        assert prose(statement).isascii()
        assert "[U+" not in prose(statement), statement


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("is_on", "is\\_on"),
        ("w_∞ ≤ 2", "\\ensuremath{w_{\\infty }} \\ensuremath{\\le} 2"),
        ("w_0^⊥", "\\ensuremath{w_{0}^{\\perp }}"),
        ("β⁰_max", "\\ensuremath{\\beta ^{0}{}_{max}}"),
        ("Σ_{S₋}", "\\ensuremath{\\Sigma _{S_{-}}}"),
        ("max_{i≠j}", "\\ensuremath{\\max_{i\\ne j}}"),
        ("(a)^t", "(a\\ensuremath{\\text{)}^{t}}"),
        ("2^(−m)", "\\ensuremath{2^{- m}}"),
        ("w̃ and 10⁻¹²", "\\ensuremath{\\tilde{w}} and 10\\ensuremath{^{-12}}"),
        ("50% of $x & {y} #1 ~ \\", r"50\% of \$x \& \{y\} \#1 \textasciitilde{} \textbackslash{}"),
        ("☠\u202e", "[U+2620][U+202E]"),
    ],
)
def test_sentences_as_latex(text, expected):
    assert prose(text) == expected


def test_identifiers_are_escaped():
    assert typewriter("a_b.py::c%") == r"\texttt{a\_\allowbreak b.\allowbreak py::c\%}"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed here")
def test_it_compiles_in_a_bare_article(tmp_path):
    odd = "".join(map(chr, range(32, 127)))
    examples = [*EXAMPLES.values(), FLOATS]
    blocks = [latex(example, find_theorem(example.theorem)) for example in examples]
    blocks += [*map(prose, statements()), prose(odd)]
    wide = {**EXAMPLES["gap"].exact["problem"], "features": [["1/3"] * 15, ["2"] * 15]}
    exact = {**EXAMPLES["gap"].exact, "problem": wide}
    blocks.append(latex(replace(EXAMPLES["gap"], exact=exact), find_theorem(GAP[0])))
    typeset(blocks, tmp_path)


# replay


def test_replay_gives_every_number_again(tmp_path, capsys):
    exact = confirm(find_theorem(GAP[0]), FLOATS).example
    counterexample.write(exact, tmp_path / "it.json")
    code, out, _ = replayed(capsys, tmp_path / "it.json", "--exact")
    assert code == 0
    assert "still violates the claim" in out
    assert "Every recorded number that can be computed again is the same." in out
    code, out, _ = replayed(capsys, tmp_path / "it.json")
    assert code == 0
    assert "replay it with --exact" in out


def test_replay_names_the_numbers_that_differ(published, capsys):
    record = json.loads(published.record.read_text())
    other = changed(record, ("exact", "final", "kappa"), "1/3")
    published.record.write_text(json.dumps(other))
    code, out, _ = replayed(capsys, published.record, "--exact")
    assert code == 1
    assert "final.kappa: stored 1/3, today 1/2\n" in out


def test_replay_finds_no_counterexample_in_another_recipe(tmp_path, capsys):
    for values, code, said in (
        ({"start": [1, -1]}, 1, "is no counterexample: exactly the assumption start_is_positive"),
        ({"labels": [1, 0]}, 1, "is no counterexample: exactly the assumption labels_are_nonzero"),
    ):
        recipe = {"values": {**IDENTITY["values"], **values}}
        example = replace(FLOATS, recipe=recipe)
        counterexample.write(example, tmp_path / "it.json")
        found, out, _ = replayed(capsys, tmp_path / "it.json", "--exact")
        assert (found, said in out) == (code, True), out


def test_replay_of_what_has_no_exact_form_is_undecided(tmp_path, capsys):
    theorem = load_file(write_theorem(tmp_path))
    recipe = {"point": {"n": 2}, "root_seed": 0, "block": 0, "trial": 0}
    example = captured(theorem, theorem.claim("always_below"), "drawn", recipe, -0.5)
    counterexample.write(example, tmp_path / "it.json")
    code, out, _ = replayed(capsys, tmp_path / "it.json", "--exact")
    assert code == 3
    assert "has no exact form. Replay it without --exact." in out


def test_replay_drops_what_was_dropped(tmp_path, capsys):
    counterexample.write(EXAMPLES["freezing"], tmp_path / "it.json")
    code, out, _ = replayed(capsys, tmp_path / "it.json")
    assert code == 0
    assert "without assuming dimension_is_high" in out
    counterexample.write(FLOATS, tmp_path / "it.json")
    assert "outside the theorem's: start_is_small" in replayed(capsys, tmp_path / "it.json")[1]
    within = replace(EXAMPLES["freezing"], without=(), exact=None, evidence=FLOATING)
    counterexample.write(within, tmp_path / "it.json")
    code, out, _ = replayed(capsys, tmp_path / "it.json")
    assert code == 1
    assert "does not meet the claim's assumptions" in out


def test_an_unknown_assumption_is_named(tmp_path, capsys):
    counterexample.write(replace(FLOATS, without=("gravity",)), tmp_path / "it.json")
    code, _, err = replayed(capsys, tmp_path / "it.json", "--exact")
    assert code == 2
    assert "no assumption 'gravity' to drop" in err


def test_differences_are_told_one_by_one():
    one = {"a": [1, "2"], "b": [{"id": "x", "left": "1", "reads": "then"}], "c": None}
    other = {"a": [1, "3"], "b": [{"id": "y"}], "c": 0, "d": True}
    assert list(differences(one, other)) == [
        "a[1]: stored 2, today 3",
        "b.x: stored {'id': 'x', 'left': '1', 'reads': 'then'… (41 characters), today nothing",
        "b.y: stored nothing, today {'id': 'y'}",
        "c: stored nothing, today 0",
        "d: stored nothing, today True",
    ]
    assert list(differences([1], [1, 2], "x")) == ["x: 1 entries stored, 2 today"]
    assert list(differences(1, True)) == [": stored 1, today True"]
    assert not list(differences(one, {**one, "b": [{**one["b"][0], "reads": "now"}]}))


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        publish(EXAMPLES["gap"], tmp_path / "file", "it")
