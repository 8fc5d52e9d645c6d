"""pytest --theorem FILE: the property suite of a theorem, as tests, in any folder.

Its options are in `pytest_relu_verify`, which imports this where there is a theorem to test.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from properties.catalogue import family, find_theorem, is_built_in
from properties.kept import database_in
from properties.parts import parts_of
from properties.pinned import OWN, folder_of, pins_of, require_as_pinned
from properties.search import hunted_claims
from properties.suite import ClaimFails, require_expected_verdict, require_no_counterexample
from verify.counterexample import read
from verify.engine.plan import PROFILES
from verify.engine.shards import Shard
from verify.errors import InputError, ReluVerifyError, UnknownName
from verify.theorem import Theorem


class Theorems:
    """The theorems that were asked for: their files are collected as theorems, not as modules."""

    def __init__(self, config: pytest.Config) -> None:
        names = config.getoption("--theorem")
        self.names = dict(
            _found(each, config.rootpath) for name in names for each in family(name) or [name]
        )
        self.profile: str = config.getoption("--theorem-profile")
        self.seed: int = config.getoption("--theorem-seed")
        self.shard = shard_of(config)
        self.pinned = [
            config.invocation_params.dir / folder for folder in config.getoption("--theorem-pinned")
        ]
        on_the_command_line = any(
            argument.partition("=")[0] == "--theorem" for argument in config.invocation_params.args
        )
        source = pytest.Config.ArgsSource
        if on_the_command_line and config.args_source in (source.INVOCATION_DIR, source.TESTPATHS):
            config.args = []
        given = {Path(argument.partition("::")[0]).resolve() for argument in config.args}
        config.args += [str(file) for file in self.names if file not in given]

    def pytest_report_header(self) -> str:
        names = ", ".join(self.names.values())
        shard = "" if self.shard is None else f", shard {self.shard}"
        return f"theorems: {names} (profile {self.profile}, seed {self.seed}{shard})"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Let a shard that nothing falls to end well: there are more shards than pieces of work."""
        if self.shard is not None and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path, parent: pytest.Collector
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        usual = yield
        name = self.names.get(file_path.resolve())
        if name is None:
            return usual
        nodeid = None if name.endswith(".py") else name
        return [
            TheoremFile.from_parent(parent, path=file_path, theorem=name, asked=self, nodeid=nodeid)
        ]


class TheoremFile(pytest.File):
    """The file of a theorem; its tests are `claim[search]`, `claim[verdict]` and, for each
    counterexample pinned to it, `claim[pinned NAME]`."""

    def __init__(self, *, theorem: str, asked: Theorems, **rest: Any) -> None:
        super().__init__(**rest)
        self.theorem = theorem
        self.asked = asked

    def collect(self) -> Iterator[pytest.Item]:
        try:
            theorem = find_theorem(self.theorem)
        except ReluVerifyError as reason:
            raise self.CollectError(str(reason)) from reason
        profile, seed, shard = self.asked.profile, self.asked.seed, self.asked.shard
        examples = PROFILES[profile].hunted
        whose = hashlib.sha256(theorem.id.encode()).hexdigest()
        searched = (examples, seed, database_in(self.config.rootpath))
        for number, claim in enumerate(hunted_claims(theorem)):
            parts = [
                part
                for part in range(parts_of(examples))
                if shard is None or shard.owns(whose, number + part)
            ]
            if parts:
                what = (require_no_counterexample, theorem, claim, *searched, parts)
                yield ClaimItem.of(self, claim, "search", *what)
        for number, claim in enumerate(theorem.all_claims):
            if shard is None or shard.owns(whose, number):
                yield ClaimItem.of(
                    self, claim, "verdict", require_expected_verdict, theorem, claim, profile, seed
                )
        for number, item in enumerate(self._pinned(theorem)):
            if shard is None or shard.owns(whose, number):
                yield item

    def _pinned(self, theorem: Theorem) -> Iterator[pytest.Item]:
        own = [OWN] if is_built_in(theorem) else []
        folders = [folder_of(theorem), *own, *self.asked.pinned]
        for file in dict.fromkeys(pin for folder in folders for pin in pins_of(theorem, folder)):
            try:
                claim = theorem.claim(read(file).claim)
            except (InputError, UnknownName):  # its test says so
                claim = None
            what = f"pinned {file.stem}"
            yield ClaimItem.of(self, claim, what, require_as_pinned, theorem, file)


class ClaimItem(pytest.Item):
    """One part of the suite for one claim."""

    def __init__(self, *, line: int | None, part: Callable[[], None], **rest: Any) -> None:
        super().__init__(**rest)
        self.line = line
        self.part = part

    @staticmethod
    def of(
        parent: TheoremFile, claim: Any, what: str, part: Callable[..., None], *arguments: Any
    ) -> ClaimItem:
        """Return the item that calls `part` with the arguments; claim: None if it is unknown."""
        code = None if claim is None else getattr(claim.inequality, "__code__", None)
        item: ClaimItem = ClaimItem.from_parent(
            parent,
            name=f"{'unknown' if claim is None else claim.id}[{what}]",
            line=None if code is None else code.co_firstlineno - 1,
            part=lambda: part(*arguments),
        )
        return item

    def runtest(self) -> None:
        self.part()

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, self.line, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, ClaimFails | ReluVerifyError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


def shard_of(config: pytest.Config) -> Shard | None:
    """Return the shard that is asked for, None for everything. Raises UsageError."""
    asked = config.getoption("--theorem-shard", None)
    try:
        return None if asked is None else Shard.parse(asked)
    except InputError as reason:
        raise pytest.UsageError(f"--theorem-shard: {reason}") from reason


def _found(name: str, root: Path) -> tuple[Path, str]:
    """Return a theorem's file, and its path or its full id. Raises UsageError.

    A path is relative to the working folder or, as in pytest's settings file, to `root`.
    """
    for path in (name, os.path.relpath(root / name)):
        if path.endswith(".py") and os.path.isfile(path):
            return Path(path).resolve(), path
    try:
        theorem = find_theorem(name)
    except ReluVerifyError as reason:
        raise pytest.UsageError(f"--theorem: {reason}") from reason
    module = (theorem.origin or "").removeprefix("module:")
    return Path(str(sys.modules[module].__file__)).resolve(), theorem.id
