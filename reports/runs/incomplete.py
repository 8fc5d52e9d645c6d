"""A report of which theorems are missing: what is told of them, which is no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reports.exit_codes import ALL_AS_EXPECTED, UNSETTLED
from verify.theorem import Theorem


@dataclass(frozen=True)
class Missing:
    """A theorem of a run that cannot be told from the records, and why not.

    changed: something that decides its records is not what it was.   claims, controls: the ids of
    those that there is no verdict on; none where the theorem cannot be loaded.
    """

    theorem: str
    reason: str
    changed: bool = False
    claims: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()

    @staticmethod
    def of(theorem: Theorem, reason: str, changed: bool = False) -> Missing:
        """Return that a loaded theorem is missing."""
        claims = tuple(claim.id for claim in theorem.claims)
        controls = tuple(control.claim.id for control in theorem.controls)
        return Missing(theorem.address, reason, changed, claims, controls)


def incomplete(report: dict[str, Any], missing: Sequence[Missing]) -> dict[str, Any]:
    """Return the report of what can be told, which may be nothing, with what is missing.

    `missing` lists it, the sentence names it, and the exit code is no 0.
    """
    names = ", ".join(entry.theorem for entry in missing)
    told = {**report, "missing": [asdict(entry) for entry in missing]}
    if report["theorems"]:
        told["sentence"] = f"{report['sentence']} Incomplete: without {names}."
    else:
        told["sentence"] = f"Incomplete: there is no verdict on any claim of {names}."
        told |= {"wall_time_s": None, "computing": None}
    if report["exit_code"] == ALL_AS_EXPECTED:
        told["exit_code"] = UNSETTLED
    return told
