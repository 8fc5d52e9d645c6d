"""A byte that was turned in a store is noticed, and what it was in counts as lost."""

import io
import random
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from tests.verify.engine.sealing import edited
from tests.verify.engine.toys import counting, same_claims, write_theorem
from verify.engine.check import check
from verify.engine.exporting import export
from verify.engine.merging import join
from verify.engine.schema import BLOCKS, RUNS, TABLES, TIMES, seal
from verify.engine.store import RecordsMissing, Store
from verify.errors import StoreError
from verify.loading import load_file

FLIPS = 20


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Return a folder with a theorem, and in `records.sqlite` a check of it and a search."""
    folder = tmp_path_factory.mktemp("checked")
    with Store(folder / "records.sqlite") as store:
        check(load_file(write_theorem(folder)), trials=100, store=store)
        store.remember("ab.0", {"found": 3}, 0.5)
        store.finish(store.begin({"seed": 0}), {"exit_code": 0})
    return folder


@pytest.fixture
def theorem(checked):
    return load_file(checked / "filed.py")


@pytest.fixture
def path(checked, tmp_path):
    return shutil.copy(checked / "records.sqlite", tmp_path / "records.sqlite")


def payloads(path, table="blocks", column="data"):
    """Return where in the file each payload of a column lies: its key, first byte and length."""
    content = path.read_bytes()
    key = next(", ".join(one.key) for one in TABLES if one.name == table)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(
            f"SELECT {key}, CAST({column} AS BLOB) FROM {table} ORDER BY {key}"
        ).fetchall()
    found = []
    for *names, payload in rows:
        assert content.count(payload) == 1, "in one piece, and nowhere else"
        found.append((tuple(names), content.index(payload), len(payload)))
    return found


def flip(path, key, offset, bit):
    """Turn a bit of the payload of a block."""
    first = next(first for known, first, _ in payloads(path) if known == key)
    content = bytearray(path.read_bytes())
    content[first + offset] ^= 1 << bit
    path.write_bytes(content)


def flips(path):
    """Return twenty random bits of payloads of blocks: the block, the byte and the bit."""
    chance = random.Random(3)
    chosen = [chance.choice(payloads(path)) for _ in range(FLIPS)]
    return [(key, chance.randrange(length), chance.randrange(8)) for key, _, length in chosen]


def test_every_flipped_bit_is_noticed_and_computed_again(path, theorem):
    with Store(path) as store:
        whole = check(theorem, trials=100, store=store, compute=False)
        before = list(store.blocks())
        assert store.integrity()[1] == ()
    for (hash_, block), offset, bit in flips(path):
        flip(path, (hash_, block), offset, bit)
        name = f"block {block} of configuration {hash_}"
        with Store(path) as store:
            assert store.integrity()[1] == (f"{name} does not fit its checksum",)
            with pytest.raises(RecordsMissing) as raised:
                check(theorem, trials=100, store=store, compute=False)
            assert (raised.value.keys, raised.value.damaged) == (((hash_, block),), 1)
            assert store.damaged == (name,)
            with pytest.raises(StoreError, match=f"{name} does not fit its checksum"):
                export(store, io.StringIO())
            progress, told = counting()
            assert same_claims(check(theorem, trials=100, store=store, progress=progress), whole)
            assert len(told) == 1, "what is lost is computed, and nothing else"
            assert store.integrity()[1] == ()
    with Store(path) as store:
        after = list(store.blocks())
        assert store.damaged == ()
    assert [row[:3] for row in after] == [row[:3] for row in before]
    for one, other in zip(before, after, strict=True):
        assert one[3].data.tobytes() == other[3].data.tobytes()


def test_many_flipped_bits_at_once_are_noticed(path, theorem):
    turned = list({key: (key, offset, bit) for key, offset, bit in flips(path)}.values())
    assert len(turned) > 5
    content = {key: first for key, first, _ in payloads(path)}
    whole = bytearray(path.read_bytes())
    for key, offset, bit in turned:
        whole[content[key] + offset] ^= 1 << bit
    path.write_bytes(whole)
    names = {BLOCKS.called(key) for key, _, _ in turned}
    with Store(path) as store:
        assert len(store.integrity()[1]) == len(names)
        check(theorem, trials=100, store=store)
        assert set(store.damaged) == names
        assert store.integrity()[1] == ()


@pytest.mark.parametrize(
    ("table", "column", "name"),
    [
        ("blocks", "series", "block"),
        ("configurations", "description", "the description of configuration"),
        ("searches", "content", "search ab.0"),
        ("runs", "asked", "run 1"),
        ("runs", "outcome", "run 1"),
        ("times", "seconds", "the time of"),
    ],
)
def test_in_every_table_a_changed_value_is_noticed(path, theorem, table, column, name):
    change = "seconds + 1e-9" if column == "seconds" else f"{column} || ' '"
    edited(path, f"UPDATE {table} SET {column} = {change}", sealed=False)
    with Store(path) as store:
        _, wrong = store.integrity()
        assert wrong
        assert all(one.startswith(name) for one in wrong)


@pytest.mark.parametrize("byte", [b"\xff", b"\xc3", b"\x00"])
def test_a_byte_that_makes_a_text_no_text_is_noticed(path, theorem, byte):
    for statement in ("blocks SET series", "searches SET content", "runs SET asked"):
        column = statement.split()[-1]
        value = f"CAST(x'{byte.hex()}' || substr(CAST({column} AS BLOB), 2) AS TEXT)"
        edited(path, f"UPDATE {statement} = {value}", sealed=False)
    with Store(path) as store:
        assert store.recall("ab.0", dict) is None
        assert store.runs() == ()
        check(theorem, trials=100, store=store)
        store.remember("ab.0", {"found": 3})
        assert store.recall("ab.0", dict) == {"found": 3}
        assert store.integrity()[1] == ("run 1 does not fit its checksum",)


@pytest.mark.parametrize("byte", [b"\xff", b"f"])
@pytest.mark.parametrize("table", ["blocks", "configurations"])
def test_a_key_that_was_turned_is_found_no_more(path, theorem, table, byte):
    (hash_, block), _, _ = payloads(path)[0]
    one = f"hash = '{hash_}'" + f" AND block = {block}" * (table == "blocks")
    turned = f"CAST(x'{byte.hex()}' || substr(CAST(hash AS BLOB), 2) AS TEXT)"
    edited(path, f"UPDATE {table} SET hash = {turned} WHERE {one}", sealed=False)
    with Store(path) as store:
        if table == "blocks":
            assert store.read(hash_, block) is None
        assert len(list(store.blocks())) == (19 if table == "blocks" else 10)
        assert len(store.damaged) == 1
        assert len(store.integrity()[1]) == 1
        with pytest.raises(StoreError, match="does not fit its checksum"):
            export(store, io.StringIO())
        check(theorem, trials=100, store=store)
        assert store.read(hash_, block) is not None
        assert len([row for row in store.blocks() if row[0] == hash_]) == 10
        assert len(store.integrity()[1]) == 1, "a row that nobody knows stays where it is"


def test_what_is_damaged_is_not_merged_and_comes_from_another(path, checked, tmp_path):
    (key, _, _), *_ = payloads(path)
    flip(path, key, 0, 0)
    edited(path, "UPDATE searches SET content = '{}'", sealed=False)
    with Store(path, reading=True) as one, Store(tmp_path / "all.sqlite") as target:
        total = len(list(one.blocks()))
        assert (join(target, [one]).blocks, target.read(*key)) == (total, None)
        assert target.recall("ab.0", dict) is None
        assert len(one.damaged) == 2
        with Store(checked / "records.sqlite", reading=True) as other:
            joined = join(target, [one, other])
            assert (joined.blocks, joined.searches) == (1, 1)
            assert target.read(*key).data.tobytes() == other.read(*key).data.tobytes()
        assert target.integrity()[1] == ()
    with Store(checked / "records.sqlite", reading=True) as other, Store(path) as target:
        assert (join(target, [other]).blocks, join(target, [other]).blocks) == (1, 0)
        assert target.integrity()[1] == ()


def test_a_run_that_is_damaged_hides_no_other(path):
    with Store(path) as store:
        assert store.begin({"seed": 1}) == 2
        store.finish(2, {"exit_code": 1})
    edited(path, "UPDATE runs SET asked = '{}' WHERE number = 1", sealed=False)
    with Store(path) as store:
        assert [(run.number, run.outcome) for run in store.runs()] == [(2, {"exit_code": 1})]
        assert store.damaged == ("run 1",)


def test_what_sqlite_itself_finds_is_told(path):
    root = "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_blocks_1'"
    with closing(sqlite3.connect(path)) as connection:
        ((page,), (size,)) = (
            connection.execute(sql).fetchone() for sql in (root, "PRAGMA page_size")
        )
    content = bytearray(path.read_bytes())
    content[page * size - 200 : page * size - 190] = bytes(10)
    path.write_bytes(content)
    with Store(path) as store:
        assert any(line.startswith("the file: ") for line in store.integrity()[1])


def test_a_seal_is_of_every_value_its_type_and_its_place():
    plain = ("a", 1, "", 1, b"")
    others = [("a1", 1, "", 1, b""), ("a", 11, "", 1, b""), ("a", "1", "", 1, b"")]
    others += [("a", 1, b"", 1, b""), ("a", 1, "1", 1, b""), ("a", 1, None, 1, b"")]
    rows = [plain, *others, ("a", 1, "", 1.0, b""), ("a", 1, "", 1, "")]
    seals = {seal(BLOCKS, row) for row in rows} | {seal(TIMES, rows[0])}
    assert len(seals) == len(rows) + 1
    assert seal(RUNS, (1, "a", None)) != seal(RUNS, (1, "a", "None"))
    assert {len(one) for one in seals} == {8}


# How long it took


def test_times_are_kept_beside_records_and_are_no_part_of_them(tmp_path, checked):
    record = next(iter(Store(checked / "records.sqlite", reading=True).blocks()))[3]
    one, two = (Store(tmp_path / f"{name}.sqlite") for name in ("one", "two"))
    with one, two:
        for store, seconds in ((one, 1.5), (two, 2.5)):
            store.register("ab", {"theorem": "t"})
            store.write("ab", 0, record, seconds)
            store.write("ab", 0, record, 9.0)
            store.write("ab", 1, record)
            store.remember("ab.0", {"found": 3}, seconds)
        assert [s.seconds_of_block("ab", 0) for s in (one, two)] == [1.5, 2.5]
        assert np.isnan(one.seconds_of_block("ab", 1))
        assert (one.seconds_of_search("ab.0"), two.seconds_of_search("ab.0")) == (1.5, 2.5)
        with Store(tmp_path / "all.sqlite") as target:
            join(target, [two, one])
            assert target.seconds_of_block("ab", 0) == 2.5, "that of the record that is kept"
            assert target.seconds_of_search("ab.0") == 2.5
        tables = [
            store._connection.execute("SELECT * FROM blocks").fetchall() for store in (one, two)
        ]
        assert tables[0] == tables[1]


def test_a_block_that_is_computed_again_has_its_new_time(path, theorem):
    edited(path, "UPDATE times SET seconds = 1000.0")
    (key, _, _), *rest = payloads(path)
    flip(path, key, 0, 0)
    others = [k for k, _, _ in rest]
    with Store(path) as store:
        check(theorem, trials=100, store=store)
        assert store.seconds_of_block(*key) < 1000.0
        assert {store.seconds_of_block(*k) for k in others} == {1000.0}
