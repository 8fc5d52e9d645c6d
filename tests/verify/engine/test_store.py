"""Records come back bit by bit, and a store that cannot be trusted says so."""

import csv
import io
import json
import os
import re
import shutil
import sqlite3
import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import verify
from tests.verify.engine.sealing import edited, of_version_1
from tests.verify.engine.toys import (
    at_least_zero,
    below_a_half,
    below_nine_tenths,
    counting,
    same_claims,
    theorem_of,
    write_theorem,
)
from verify.claims import Control, Universal
from verify.engine.check import check
from verify.engine.evaluate import Record
from verify.engine.executors import ProcessPool
from verify.engine.exporting import export
from verify.engine.schema import SCHEMA_VERSION
from verify.engine.store import RecordsMissing, Store
from verify.errors import InputError, StoreError
from verify.loading import load_file
from verify.space import Point

RECORD = Record(
    ("c.value", "c.scope"),
    np.array(
        [[0.1, -0.0, np.nan, np.inf, -np.inf], [1.0, 0.5, 0.0, 5e-324, 1.7976931348623157e308]]
    ),
)
OTHER = Record(RECORD.series, RECORD.data + np.array([[0.0], [1.0]]))
DESCRIPTION = {"theorem": "t", "point": "n=1", "control": "", "root_seed": 7}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "out" / "records.sqlite"


@pytest.fixture
def store(path):
    with Store(path) as opened:
        opened.register("hash", DESCRIPTION)
        yield opened


def test_a_record_comes_back_bit_by_bit(path, store):
    store.write("hash", 3, RECORD)
    store.close()
    with Store(path) as again:
        found = again.read("hash", 3)
    assert found.series == RECORD.series
    assert found.data.tobytes() == RECORD.data.tobytes()
    assert found.data.dtype == np.float64


def test_what_was_not_stored_is_none(store):
    store.write("hash", 3, RECORD)
    assert store.read("hash", 2) is None
    assert store.read("another", 3) is None


def test_a_store_is_in_wal_mode_so_that_others_read_while_it_writes(path, store):
    store.write("hash", 0, RECORD)
    with sqlite3.connect(path) as reader:
        assert reader.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        reader.execute("BEGIN")
        count = "SELECT count(*) FROM blocks"
        assert reader.execute(count).fetchone() == (1,)
        store.write("hash", 1, RECORD)
        assert reader.execute(count).fetchone() == (1,)
    assert reader.execute(count).fetchone() == (2,), "the snapshot ended with the transaction"
    reader.close()


def test_the_same_record_twice_is_no_conflict(store):
    store.write("hash", 0, RECORD)
    store.write("hash", 0, Record(RECORD.series, RECORD.data.copy()))


@pytest.mark.parametrize(
    ("other", "named"),
    [
        (OTHER, r"\(c.scope\)"),
        (Record(("c.value",), RECORD.data[:1]), r"\(c.value, c.scope\)"),
        (Record(RECORD.series, RECORD.data[:, :2]), r"\(c.value, c.scope\)"),
    ],
)
def test_another_record_of_the_same_block_is_a_conflict_that_changes_nothing(store, other, named):
    store.write("hash", 0, RECORD)
    message = f"block 0 of configuration hash came out differently .*{named}.*not deterministic"
    with pytest.raises(StoreError, match=message):
        store.write("hash", 0, other)
    assert store.read("hash", 0).differing(RECORD) == ()


def test_two_writers_agree_or_conflict(path, store):
    with Store(path) as second:
        store.write("hash", 0, RECORD)
        second.write("hash", 0, RECORD)
        with pytest.raises(StoreError, match="came out differently"):
            second.write("hash", 0, OTHER)


def test_a_file_that_is_no_database_is_refused_and_kept(path):
    path.parent.mkdir()
    path.write_bytes(b"my notes, not yours\n" * 100)
    with pytest.raises(StoreError, match=r"cannot be used as a record store .*choose another"):
        Store(path)
    assert path.read_bytes() == b"my notes, not yours\n" * 100


def test_another_programs_database_is_refused_and_kept(path):
    path.parent.mkdir()
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE bookmarks (url TEXT)")
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program's database"):
        Store(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_store_of_another_schema_version_is_refused_and_kept(path, store):
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value='999' WHERE name='schema_version'")
        connection.execute("DROP TABLE blocks")
    connection.close()
    with pytest.raises(StoreError, match=f"has schema version 999, expected {SCHEMA_VERSION}"):
        Store(path)
    with sqlite3.connect(path) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
    connection.close()
    assert ("blocks",) not in tables


@pytest.mark.parametrize("under", ["/proc/nowhere/records.sqlite", "{tmp}/file/records.sqlite"])
def test_a_folder_that_cannot_be_written_is_said_to_be_unusable(tmp_path, under):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be used as a record store"):
        Store(under.format(tmp=tmp_path))


def test_a_failed_opening_leaves_no_connection_open(path):
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            with pytest.raises(StoreError):
                Store(path)
    path.unlink()
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE blocks SET data = substr(data, 1, 30)",
        "UPDATE blocks SET data = substr(data, 1, 40)",
        "UPDATE blocks SET data = data || data",
        "UPDATE blocks SET data = 'text'",
        "UPDATE blocks SET trials = 4",
        "UPDATE blocks SET series = '['",
        "UPDATE blocks SET series = '3'",
        "UPDATE blocks SET series = '[1, 2, 3]'",
        'UPDATE blocks SET series = \'["a", "a", "b"]\'',
    ],
)
def test_a_record_that_we_would_not_write_is_an_error_to_read_and_to_export(path, store, damage):
    store.write("hash", 0, RECORD)
    edited(path, damage)
    for use in (lambda: store.read("hash", 0), lambda: export(store, io.StringIO())):
        with pytest.raises(StoreError, match="block 0 of configuration hash cannot be read"):
            use()


def test_a_closed_store_is_an_error_to_use(store):
    store.close()
    with pytest.raises(StoreError, match="cannot be read"):
        store.read("hash", 0)
    with pytest.raises(StoreError, match="cannot be written"):
        store.write("hash", 0, RECORD)


def test_an_export_holds_every_number_and_whose_it_is(store):
    store.register("later", {**DESCRIPTION, "control": "broken"})
    store.write("later", 0, OTHER)
    store.write("hash", 10, RECORD)
    store.write("hash", 2, RECORD)
    text = io.StringIO()
    assert export(store, text) == 30
    text.seek(0)
    rows = list(csv.DictReader(text))
    assert list(rows[0]) == [
        *("configuration", "theorem", "point", "control", "root_seed"),
        *("block", "trial", "series", "value"),
    ]
    assert len(rows) == 30
    back = {
        (row["configuration"], int(row["block"]), row["series"], int(row["trial"])): row["value"]
        for row in rows
    }
    for key, record in ((("hash", 2), RECORD), (("hash", 10), RECORD), (("later", 0), OTHER)):
        for name, values in zip(record.series, record.data, strict=True):
            found = [float(back[(*key, name, trial)]) for trial in range(5)]
            assert np.array(found).tobytes() == values.tobytes()
    assert {row["theorem"] for row in rows} == {"t"}
    assert {row["root_seed"] for row in rows} == {"7"}
    assert [row["block"] for row in rows[:20:10]] == ["2", "10"]


# What a configuration is


def computed(theorem, path, **options):
    """Check with a store and return how many blocks were computed."""
    progress, told = counting()
    with Store(path) as store:
        check(theorem, store=store, progress=progress, **{"trials": 20, **options})
    return len(told)


def test_the_same_check_again_computes_nothing_and_says_the_same(tmp_path, path):
    theorem = load_file(write_theorem(tmp_path))
    assert computed(theorem, path) == 4
    assert computed(theorem, path) == 0
    with Store(path) as store:
        assert same_claims(check(theorem, trials=20, store=store), check(theorem, trials=20))


def test_a_larger_check_goes_on_from_the_blocks_of_a_smaller_one(tmp_path, path):
    theorem = load_file(write_theorem(tmp_path))
    assert computed(theorem, path, trials=20) == 4
    assert computed(theorem, path, trials=35) == 4
    assert computed(theorem, path, trials=15) == 0
    with Store(path) as store:
        assert same_claims(check(theorem, trials=35, store=store), check(theorem, trials=35))


def test_quick_and_full_share_blocks(tmp_path, path):
    theorem = load_file(write_theorem(tmp_path))
    assert computed(theorem, path, trials=None, profile="quick") == 40
    assert computed(theorem, path, trials=None, profile="full") == 160


@pytest.mark.parametrize(
    "change",
    [
        {"root_seed": 1},
        {"cells": [verify.Point(n=3)]},
        {"claims": ["at_least_zero"]},
    ],
)
def test_another_seed_point_or_selection_has_records_of_its_own(tmp_path, path, change):
    theorem = load_file(write_theorem(tmp_path))
    computed(theorem, path)
    assert computed(theorem, path, **change) > 0
    assert computed(theorem, path) == 0


def test_a_changed_definition_has_records_of_its_own(tmp_path, path):
    computed(load_file(write_theorem(tmp_path)), path)
    assert computed(load_file(write_theorem(tmp_path, **{"0.9)": "0.8)"})), path) == 4


def test_an_edited_helper_and_another_size_of_blocks_have_records_of_their_own(tmp_path, path):
    (tmp_path / "helper.py").write_text("LIMIT = 0.9\n")
    used = {"trial.problem, 0.9)": "trial.problem, LIMIT)"}
    used["import numpy as np"] = "import numpy as np\nfrom helper import LIMIT"
    assert computed(load_file(write_theorem(tmp_path, **used)), path) == 4
    assert computed(load_file(write_theorem(tmp_path, **used)), path) == 0
    (tmp_path / "helper.py").write_text("LIMIT = 0.8\n")
    assert computed(load_file(write_theorem(tmp_path, **used)), path) == 4
    larger = {**used, "    block=10,": "    block=20,"}
    assert computed(load_file(write_theorem(tmp_path, **larger)), path) == 2


@pytest.mark.parametrize(
    "version",
    [
        "verify.engine.gather.np.__version__",
        "verify.engine.gather.scipy.__version__",
        "verify.__version__",
        "verify.arrays.Backend.version",
    ],
)
def test_another_version_of_what_computes_has_records_of_its_own(
    tmp_path, path, version, monkeypatch
):
    theorem = load_file(write_theorem(tmp_path))
    computed(theorem, path)
    monkeypatch.setattr(version, "0.0.0")
    assert computed(theorem, path) == 4


def test_another_backend_has_records_of_its_own(tmp_path, path):
    placed = {"    block=10,": "    block=10, place=lambda problem, on: on.asarray(problem),"}
    theorem = load_file(write_theorem(tmp_path, **placed))
    assert computed(theorem, path) == 4
    assert computed(theorem, path, backend="array-api-strict") == 4
    with Store(path) as store:
        strict = check(theorem, trials=20, store=store, backend="array-api-strict")
    assert same_claims(strict, check(theorem, trials=20))


def test_a_description_says_what_a_configuration_is(tmp_path, path):
    computed(load_file(write_theorem(tmp_path)), path, root_seed=5)
    with sqlite3.connect(path) as connection:
        found = [
            json.loads(d) for (d,) in connection.execute("SELECT description FROM configurations")
        ]
    connection.close()
    assert len(found) == 2
    for description in found:
        assert description["theorem"] == "filed"
        assert description["root_seed"] == 5
        assert description["numpy"] == np.__version__
        assert description["backend"] == "numpy"
        assert description["claims"] == ["at_least_zero", "below_nine_tenths", "always_below"]


# What a theorem reads that is no source


def reading(folder, text):
    """Return a theorem in which the number in `text` is read from the environment."""
    read = re.sub(r"0\.\d", 'float(os.environ["LIMIT"])', text)
    return load_file(
        write_theorem(folder, **{text: read, "import numpy as np": "import os, numpy as np"})
    )


@pytest.mark.parametrize("text", ["trial.problem, 0.9)", "trial.problem, 0.5)"])
@pytest.mark.parametrize("jobs", [None, 1])
def test_records_of_another_input_are_noticed_before_any_is_added(
    tmp_path, path, monkeypatch, text, jobs
):
    monkeypatch.setenv("LIMIT", "0.5")
    theorem = reading(tmp_path, text)
    assert computed(theorem, path, trials=20) == 4
    assert computed(theorem, path, trials=20) == 0
    monkeypatch.setenv("LIMIT", "0.4")
    with ProcessPool(jobs) if jobs else nullcontext() as executor:
        for trials in (20, 40):
            with pytest.raises(StoreError, match=r"block 0 at n=1 .* reads has changed.*--out"):
                computed(theorem, path, trials=trials, executor=executor)
    monkeypatch.setenv("LIMIT", "0.5")
    assert computed(theorem, path, trials=20) == 0
    assert computed(theorem, path, trials=40) == 4


def test_one_stored_block_of_each_claim_and_control_is_computed_again(tmp_path, path):
    calls = []
    claims = [Universal(at_least_zero), Universal(below_nine_tenths, at=(Point(n=2), Point(n=3)))]

    def noted(point, generator, trials):
        calls.append(dict(point)["n"])
        return generator.random(trials)

    theorem = theorem_of(
        *claims,
        controls=(Control(Universal(below_a_half, at=(Point(n=4),)), because="it is not"),),
        draw=noted,
        source="mine",
    )
    computed(theorem, path)
    calls.clear()
    assert computed(theorem, path) == 0
    assert sorted(calls) == [1, 2, 4]


def test_what_another_processor_rounds_otherwise_is_no_change(store):
    rounded = Record(RECORD.series, RECORD.data * (1 - 1e-12))
    assert RECORD.differing(rounded) == RECORD.series
    store.write("hash", 0, RECORD)
    store.confirm("hash", 0, rounded, "this")
    for changed in (RECORD.data * (1 - 1e-5), np.where(RECORD.data == np.inf, 0.0, RECORD.data)):
        with pytest.raises(StoreError, match="this came out differently"):
            store.confirm("hash", 0, Record(RECORD.series, changed), "this")
    with pytest.raises(StoreError, match=r"came out differently .* another processor"):
        store.write("hash", 0, rounded)


# Records alone


def test_a_check_is_told_from_its_records_and_nothing_is_drawn(tmp_path, path):
    drawn = []

    def noted(point, generator, trials):
        drawn.append(point)
        return generator.random(trials)

    theorem = theorem_of(Universal(at_least_zero), draw=noted, source="mine")
    with Store(path) as store:
        checked = check(theorem, trials=25, store=store)
        drawn.clear()
        assert same_claims(check(theorem, trials=25, store=store, compute=False), checked)
        assert same_claims(
            check(theorem, trials=15, store=store, compute=False), check(theorem, trials=15)
        )
    assert len(drawn) == 3, "those of the check without a store: two blocks, one of them twice"


def test_records_that_are_missing_are_counted_and_nothing_is_written(tmp_path, path):
    theorem = load_file(write_theorem(tmp_path))
    computed(theorem, path, trials=20)
    before = path.read_bytes()
    with Store(path) as store:
        for options, counts in (({"trials": 35}, (4, 8)), ({"trials": 20, "root_seed": 1}, (4, 4))):
            with pytest.raises(RecordsMissing, match=r"holds \d of the .*compute=True") as raised:
                check(theorem, store=store, compute=False, **options)
            assert (raised.value.missing, raised.value.total) == counts
    assert path.read_bytes() == before


def test_records_alone_need_a_store():
    with pytest.raises(InputError, match="store=None; give it one"):
        check(theorem_of(Universal(at_least_zero)), compute=False)


# Runs


def test_a_store_remembers_what_runs_were_asked_and_what_came_of_them(path, store):
    assert store.runs() == ()
    assert store.begin({"seed": 0, "name": "\udcff"}) == 1
    assert store.begin({"seed": 1}) == 2
    store.finish(2, {"exit_code": 3})
    store.close()
    with Store(path) as again:
        first, second = again.runs()
        assert (first.number, first.asked, first.outcome) == (
            1,
            {"seed": 0, "name": "\udcff"},
            None,
        )
        assert (second.asked, second.outcome) == ({"seed": 1}, {"exit_code": 3})
        assert again.begin({}) == 3


@pytest.mark.parametrize(
    "damage",
    ["asked = '['", "asked = '3'", "outcome = 'x'", "asked = printf('%.200000c', '[')"],
)
def test_a_damaged_run_is_an_error_to_read(path, store, damage):
    store.begin({"seed": 0})
    edited(path, f"UPDATE runs SET {damage}")
    with pytest.raises(StoreError, match="run 1 cannot be read"):
        store.runs()


def test_a_store_that_is_only_read_stays_as_it_is(path, store):
    store.write("hash", 0, RECORD)
    store.begin({"seed": 1})
    store.close()
    before = path.read_bytes()
    with Store(path, reading=True) as again:
        assert again.read("hash", 0).differing(RECORD) == ()
        assert [run.asked for run in again.runs()] == [{"seed": 1}]
        with pytest.raises(StoreError, match="cannot be written"):
            again.write("hash", 1, RECORD)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_a_writer_has_not_yet_closed_is_read(path, store):
    store.write("hash", 0, RECORD)
    with Store(path, reading=True) as again:
        assert again.read("hash", 0).differing(RECORD) == ()


def test_what_a_killed_writer_has_left_is_read_and_left(path, store, tmp_path):
    store.write("hash", 0, RECORD)
    killed = tmp_path / "killed"
    shutil.copytree(path.parent, killed)
    before = {file.name: file.read_bytes() for file in killed.iterdir()}
    assert before[f"{path.name}-wal"]
    with Store(killed / path.name, reading=True) as again:
        assert again.read("hash", 0).differing(RECORD) == ()
    after = {file.name: file.read_bytes() for file in killed.iterdir()}
    assert before.keys() == after.keys()
    for name in (path.name, f"{path.name}-wal"):
        assert after[name] == before[name]


def test_nothing_is_made_where_there_is_nothing_to_read(path):
    with pytest.raises(StoreError, match="unable to open"):
        Store(path, reading=True)
    assert not path.parent.exists()
    path.parent.mkdir()
    path.touch()
    with pytest.raises(StoreError, match=r"it is empty\); choose another folder, or copy"):
        Store(path, reading=True)
    assert path.read_bytes() == b""


@pytest.mark.parametrize("left_open", [False, True])
def test_where_nothing_can_be_written_the_file_is_read_by_itself(
    path, store, monkeypatch, left_open
):
    store.write("hash", 0, RECORD)
    if not left_open:
        store.close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with Store(path, reading=True) as again:
        assert again.read("hash", 0).differing(RECORD) == ()
    assert (len(list(path.parent.iterdir())) == 1) is not left_open


def test_runs_of_a_closed_store_are_an_error(store):
    store.close()
    with pytest.raises(StoreError, match="cannot be used"):
        store.runs()


def test_what_a_search_found_is_read_by_whoever_kept_it(path, store):
    store.remember("search", {"found": 3})
    assert store.recall("search", lambda content: content["found"]) == 3
    assert store.recall("another", dict) is None
    with pytest.raises(StoreError, match=r"search search cannot be read .*; move the file away"):
        store.recall("search", lambda content: content["lost"])


def test_a_record_without_a_series_that_is_asked_for_is_damaged():
    with pytest.raises(StoreError, match=r"lacks the series 'c.rounding'; move the file"):
        RECORD["c.rounding"]
    with pytest.raises(StoreError, match="different series; move the file"):
        Record.joined([RECORD, Record(("c.scope", "c.value"), RECORD.data)])


@pytest.mark.parametrize("damage", ["[", "3", "[1]"])
def test_a_description_that_we_would_not_write_is_an_error_to_export(path, store, damage):
    store.write("hash", 0, RECORD)
    edited(path, ("UPDATE configurations SET description = ?", (damage,)))
    with pytest.raises(StoreError, match="description of configuration hash cannot be read"):
        export(store, io.StringIO())


# Older stores


@pytest.fixture
def older(path, store):
    """Return the path of a store of version 1, with everything in it."""
    store.write("hash", 0, RECORD, 1.0)
    store.write("hash", 1, OTHER)
    store.remember("search.0", {"found": 3})
    store.finish(store.begin({"seed": 1}), {"exit_code": 3})
    store.close()
    of_version_1(path)
    return path


@pytest.mark.parametrize("without", ["", "DROP TABLE runs"])
def test_an_older_store_is_brought_up_to_date_and_sealed_as_it_is(older, without):
    edited(older, *filter(None, [without]), sealed=False)
    for _ in range(2):
        with Store(older) as again:
            assert again.read("hash", 0).differing(RECORD) == ()
            assert again.recall("search.0", dict) == {"found": 3}
            runs = [(run.asked, run.outcome) for run in again.runs()]
            assert runs == ([] if without else [({"seed": 1}, {"exit_code": 3})])
            assert np.isnan(again.seconds_of_block("hash", 0))
            assert again.integrity() == (4 + len(runs), ())
            assert again.damaged == ()
            assert len(list(again.blocks())) == 2
    with Store(older) as again:
        assert again.begin({}) == (1 if without else 2)


def test_an_older_store_is_not_changed_by_who_only_reads(older):
    before = older.read_bytes()
    with pytest.raises(StoreError, match=r"schema version 1, expected 2; give its run's command"):
        Store(older, reading=True)
    assert older.read_bytes() == before


def test_an_older_store_that_cannot_be_brought_up_to_date_is_left_as_it_is(older, monkeypatch):
    edited(older, "ALTER TABLE searches ADD COLUMN seal TEXT", sealed=False)
    before = older.read_bytes()
    with pytest.raises(StoreError, match="cannot be used as a record store"):
        Store(older)
    assert older.read_bytes() == before
