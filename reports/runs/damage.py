"""What of a folder's records is damaged: told to whoever uses them, and looked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click

from reports.exit_codes import ALL_AS_EXPECTED, UNSETTLED
from reports.text.counts import count_of
from verify.engine.store import Store

_MOST_NAMED = 3


@contextmanager
def telling_damage(store: Store) -> Iterator[Store]:
    """Open and close a store, and tell on stderr at the end what was damaged of all that was
    looked for in it."""
    with store:
        try:
            yield store
        finally:
            if damaged := store.damaged:
                click.echo(f"relu-verify: {damage_words(store.path, damaged)}", err=True)


def damage_words(path: Path, damaged: tuple[str, ...]) -> str:
    """Say what of a store is damaged, and what becomes of it."""
    more = len(damaged) - _MOST_NAMED
    named = ", ".join(damaged[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    entries = count_of(len(damaged), "entry", "entries")
    return (
        f"{entries} of {path} did not fit the checksum ({named}) and counted as lost; the run's "
        "command computes what is lost"
    )


def tell_integrity(store: Store, stdout: TextIO) -> int:
    """Look at every entry of a store, and say which are damaged; return the exit code."""
    count, wrong = store.integrity()
    for line in wrong:
        click.echo(line, file=stdout)
    said = f"{count_of(len(wrong), 'fault')}: give the run's command again" if wrong else "all fit"
    held = (
        "1 entry was held to its checksum"
        if count == 1
        else f"{count} entries were held to their checksums"
    )
    click.echo(f"{store.path}: {held}; {said}.", file=stdout)
    return UNSETTLED if wrong else ALL_AS_EXPECTED
