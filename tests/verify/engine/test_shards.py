"""Work is shared out without remainder and overlap, and shares that are joined are the whole."""

from __future__ import annotations

import hashlib

import pytest

from tests.verify.engine.sealing import edited
from tests.verify.engine.toys import counting, same_claims, write_theorem
from verify.engine.check import check
from verify.engine.contribute import contribute
from verify.engine.merging import join
from verify.engine.shards import Shard, owner
from verify.engine.store import RecordsMissing, Store
from verify.errors import InputError, StoreError
from verify.loading import load_file


def digest(number):
    return hashlib.sha256(str(number).encode()).hexdigest()[:32]


@pytest.mark.parametrize(
    "text", ["", "1", "2/1", "0/2", "1/0", "-1/2", "1/2/3", "a/b", "1/2 ", "²/3"]
)
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(InputError, match=r"shard=.*say \d/\d"):
        Shard.parse(text)


def test_a_shard_is_written_as_it_is_read():
    assert str(Shard.parse("02/10")) == "2/10"


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_every_piece_has_one_owner_and_shares_are_even(count):
    shards = [Shard(index + 1, count) for index in range(count)]
    total = dict.fromkeys(shards, 0)
    for number in range(300):
        whose = [[s for s in shards if s.owns(digest(number), block)] for block in range(count)]
        assert all(len(owners) == 1 for owners in whose)
        assert {owners[0] for owners in whose} == set(shards), "dealt in turn"
        assert whose[0][0] == owner(digest(number), 0, count)
        total[whose[0][0]] += 1
    assert min(total.values()) > 0.6 * 300 / count


@pytest.fixture
def theorem(tmp_path):
    return load_file(write_theorem(tmp_path))


def shares(theorem, folder, count, **options):
    """Return the paths of the stores of all shards of a check."""
    paths = [folder / f"{index}.sqlite" for index in range(1, count + 1)]
    held = []
    for index, path in enumerate(paths, 1):
        with Store(path) as store:
            held.append(contribute(theorem, Shard(index, count), store, **options))
    assert sum(each.blocks for each in held) == held[0].total
    return paths


def join_all(paths, target):
    """Join stores, which are only read, in one."""
    before = [path.read_bytes() for path in paths]
    sources = [Store(path, reading=True) for path in paths]
    with Store(target) as store:
        joined = join(store, sources)
    for source in sources:
        source.close()
    assert [path.read_bytes() for path in paths] == before
    return joined


@pytest.mark.parametrize("count", [1, 2, 3])
def test_joined_shares_are_the_whole(tmp_path, theorem, count):
    paths = shares(theorem, tmp_path, count)
    assert join_all(paths, tmp_path / "all.sqlite").blocks == 40
    progress, told = counting()
    with Store(tmp_path / "all.sqlite") as store:
        assert same_claims(check(theorem, store=store, progress=progress), check(theorem))
    assert told == []


def test_a_share_that_is_missing_is_named_by_its_blocks(tmp_path, theorem):
    first, _, third = shares(theorem, tmp_path, 3)
    join_all([first, third], tmp_path / "all.sqlite")
    with Store(tmp_path / "all.sqlite") as store, pytest.raises(RecordsMissing) as raised:
        check(theorem, store=store, compute=False)
    assert {owner(*key, 3) for key in raised.value.keys} == {Shard(2, 3)}
    assert raised.value.missing == len(raised.value.keys) < raised.value.total == 40


def test_stores_that_overlap_and_are_joined_twice_are_joined_once(tmp_path, theorem):
    paths = shares(theorem, tmp_path, 2)
    other = tmp_path / "more"
    other.mkdir()
    paths += shares(theorem, other, 3)
    assert join_all(paths, tmp_path / "all.sqlite").blocks == 40
    assert join_all(paths, tmp_path / "all.sqlite").blocks == 0


def test_a_share_goes_on_where_it_was_interrupted(tmp_path, theorem):
    progress, told = counting()
    with Store(tmp_path / "1.sqlite") as store:
        first = contribute(theorem, Shard(1, 2), store, progress=progress)
        assert len(told) == first.blocks == 20
        assert contribute(theorem, Shard(1, 2), store, progress=progress) == first
    assert len(told) == 20


def test_violations_of_a_share_are_those_that_a_verdict_counts(tmp_path):
    false = {"Universal(at_least_zero, given": "Universal(below_nine_tenths, name='b', given"}
    false |= {"Assumption(below_a_half)": "Assumption(at_least_zero)"}
    theorem = load_file(write_theorem(tmp_path, **false))
    violated = 0
    for index in (1, 2, 3):
        with Store(tmp_path / f"{index}.sqlite") as store:
            found = contribute(theorem, Shard(index, 3), store).violated
        assert set(found) == {"b"}, "neither the control nor the claim about a probability"
        violated += found["b"]
    assert violated == check(theorem)["b"].violated > 0


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE blocks SET data = zeroblob(length(data))", r"block \d of theorem 'filed' at n="),
        ('UPDATE searches SET content = \'{"claim": "c", "n": 2}\'', "search of 'c' found one"),
    ],
)
def test_stores_that_contradict_each_other_are_not_joined(tmp_path, theorem, statement, message):
    one, two = shares(theorem, tmp_path, 2)
    for path in (one, two):
        with Store(path) as store:
            store.remember("ab.0", {"claim": "c", "n": float("nan")})
    other = tmp_path / "other.sqlite"
    other.write_bytes(one.read_bytes())
    edited(other, statement)
    with pytest.raises(
        StoreError, match=f"{message}.* in .*[12].sqlite and another in .*other.sqlite"
    ):
        join_all([two, one, other], tmp_path / "all.sqlite")
    with Store(tmp_path / "all.sqlite") as store:
        assert list(store.blocks()) == []
        assert store.searches() == ()


def test_what_is_written_together_is_kept_together(tmp_path, theorem):
    (one,) = shares(theorem, tmp_path, 1)
    with Store(one, reading=True) as source, Store(tmp_path / "all.sqlite") as store:
        blocks = list(source.blocks())

        def write_and_fail():
            with store.together():
                for hash_, description, number, record in blocks:
                    store.register(hash_, description)
                    store.write(hash_, number, record)
                raise KeyError

        with pytest.raises(KeyError):
            write_and_fail()
        assert list(store.blocks()) == []
        store.register(blocks[0][0], {})
        assert join(store, [source]).blocks == 40


def test_another_finding_of_the_same_search_is_a_conflict(tmp_path):
    with Store(tmp_path / "all.sqlite") as store:
        store.remember("ab.0", {"found": float("nan")})
        store.remember("ab.0", {"found": float("nan")})
        with pytest.raises(StoreError, match=r"search ab\.0 came out differently"):
            store.remember("ab.0", {"found": 1})
