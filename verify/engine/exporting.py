"""Every number of a store, as a table for other programs."""

from __future__ import annotations

import csv
from typing import TextIO

from verify.engine.store import Store
from verify.errors import StoreError


def export(store: Store, stream: TextIO) -> int:
    """Write every number of a store as CSV rows and return their count.

    Columns: configuration (its hash), theorem, point, control, root_seed, block, trial, series,
    value. Raises StoreError for a record that cannot be read, or does not fit its checksum.
    """
    writer = csv.writer(stream, lineterminator="\n")
    columns = ("theorem", "point", "control", "root_seed")
    writer.writerow(["configuration", *columns, "block", "trial", "series", "value"])
    count = 0
    for hash_, known, block, record in store.blocks():
        head = [hash_, *(known.get(name, "") for name in columns), block]
        for name, values in zip(record.series, record.data, strict=True):
            for trial, value in enumerate(values):
                writer.writerow([*head, trial, name, repr(float(value))])
                count += 1
    if store.damaged:
        raise StoreError(
            f"{store.path}: {store.damaged[0]} does not fit its checksum, so not every number can "
            "be told; give the run's command again, which computes what is lost"
        )
    return count
