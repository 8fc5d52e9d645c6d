"""`relu-verify data`: the theorems on a researcher's own data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reports.commands import options
from reports.terminal import stdout_kept, typed


@click.command()
@click.argument("features", type=click.Path(path_type=str))
@click.argument("labels", type=click.Path(path_type=str), required=False)
@click.option(
    "--label-column",
    default=None,
    metavar="NAME",
    help="The column (by name, or number from 1) or array with the labels: of LABELS, or of "
    "FEATURES without LABELS.",
)
@click.option("--positive", default=None, metavar="LEVEL", help="This level is +1, all others −1.")
@click.option(
    "--step", default=0.5, show_default=True, metavar="C", help="Relative step c = η·tr(G)/n."
)
@click.option(
    "--start", default=1e-3, show_default=True, metavar="EPS", help="All starting predictions."
)
@click.option("--normalise-rows", is_flag=True, help="Scale every example to length 1.")
@click.option(
    "--features",
    "lift",
    default=None,
    metavar="relu:D|fourier:D[:BANDWIDTH]",
    help="D random features in place of the given ones.  [bandwidth: the median distance]",
)
@click.option("--seed", default=0, show_default=True, help="Of the random features.")
@click.option(
    "--neurons",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="One neuron of sign +1, or two of opposite sign.",
)
@click.option(
    "--theorem", default=None, metavar="FILE", help="A theorem to examine, not the built-in ones."
)
@options.as_json
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder for data.json and data.html, a page with figures.",
)
def data(
    features: str, labels: str | None, step: float, as_json: bool, out: Path | None, **options: Any
) -> int:
    """Check the theorems on your own data: a matrix (rows are examples) and one label a row.

    Says which assumptions hold and by what margin, then what gradient descent does on one ReLU
    neuron (or two), the minimum-norm solution and the gap between them; and warns of what in the
    data speaks against it. Reads .npy, .npz, .csv, .tsv, .mat, .mtx, svmlight, .parquet and .h5ad
    (the last two need extras); labels also .txt. FILE::NAME picks an array of a file of several.
    Files are never unpickled.
    """
    from reports.own_data.analysis import analyse
    from reports.own_data.lines import told
    from reports.own_data.request import Request
    from verify.writing import json_text

    if out is not None:
        from reports.own_data.page import require_room, write

        require_room(out)
    request = Request(features, labels, relative_step=step, **options)
    with stdout_kept():
        found = analyse(request)
    if out is not None:
        write(found, out, typed())
    if as_json:
        click.echo(json_text(found), nl=False)
    else:
        click.echo(told(found))
    if out is not None:
        click.echo(f"Page: {out / 'data.html'}", err=True)
    return int(found["exit_code"])
