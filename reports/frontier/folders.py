"""Where a frontier is written: a folder for each that is asked for, so that none replaces another.

Two are the same where claim, axes, range, rows, coordinates, levels, assumptions dropped and seed
are: more trials then go on with the one that is there.
"""

from __future__ import annotations

import json
import os
from itertools import chain, count
from pathlib import Path
from typing import Any

from reports.frontier.request import Asked
from verify.writing import jsonable


def default_folder(claim: str, asked: Asked) -> Path:
    """Return relu-verify-out/frontier-CLAIM-X-by-Y; of a claim in a file, with the file's name.

    The first that holds no other frontier of those with -2, -3, … at the end.
    """
    path, _, bare = claim.rpartition("::")
    name = f"{Path(path).stem}.{bare}" if path else bare
    request = asked.request
    axes = request.x.name + (f"-by-{request.y.name}" if request.y else "")
    shortened = os.fsencode(f"frontier-{name}")[:100].decode(errors="ignore")
    folder = Path("relu-verify-out", f"{shortened}-{axes}")
    numbered = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    return next(one for one in chain([folder], numbered) if not replaced(asked, one))


def replaced(asked: Asked, folder: Path) -> str:
    """Say which frontier a folder holds, if it is another than is asked for; "" where there is
    none, or none that can be read."""
    try:
        known = json.loads((folder / "frontier.json").read_text(encoding="utf-8"))
        told = _identity(known)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ""
    mine = _identity(_asked(asked))
    if told == mine:
        return ""
    along = f"{told['full_id']} along {told['x'][0]}" + f" by {told['y']}" * bool(told["y"])
    axes, own = ((one["full_id"], one["x"][0], one["y"]) for one in (told, mine))
    other = [_NAMES[name] for name in _NAMES if told[name] != mine[name]]
    return along + (f", with {' and '.join(other)} of its own" if axes == own else "")


_NAMES = {
    "x": "a range",
    "rows": "rows",
    "at": "coordinates",
    "levels": "levels",
    "without": "assumptions dropped",
    "seed": "a seed",
}
"""What tells frontiers of one claim along the same axes apart."""


def _asked(asked: Asked) -> dict[str, Any]:
    request = asked.request
    axis = {"name": request.x.name, "low": request.x.low, "high": request.x.high}
    return {
        "full_id": asked.theorem.address_of(asked.claim.id),
        "x": axis,
        "y": {"name": request.y.name} if request.y else None,
        "rows": [{"y": value} for value in request.rows],
        "at": jsonable(dict(request.at or {})),
        "levels": list(request.levels),
        "without": list(request.without),
        "seed": request.root_seed,
    }


def _identity(found: dict[str, Any]) -> dict[str, Any]:
    """Return what makes a frontier the one that it is, from its file or from what is asked."""
    x, y = found["x"], found["y"]
    return {
        "full_id": found["full_id"],
        "x": (x["name"], float(x["low"]), float(x["high"])),
        "y": y["name"] if y else "",
        "rows": list(dict.fromkeys(row["y"] for row in found["rows"])),
        "at": dict(found["at"]),
        "levels": list(found["levels"]),
        "without": list(found["without"]),
        "seed": found["seed"],
    }
