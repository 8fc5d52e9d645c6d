"""The words and letters of a page: six verdicts, and the marks that say whose a statement is."""

from __future__ import annotations

from reports.typography import Part
from verify.claims import Status
from verify.verdict import Conclusion

VERDICTS = {str(conclusion): conclusion.meaning for conclusion in Conclusion}
"""The six words and their meaning."""

_WHOSE = {
    Status.READ: "read in the paper",
    Status.SUMMARY: "abstract or summary",
    Status.DERIVED: "ours",
    Status.HEURISTIC: "ours",
    Status.FOLKLORE: "folklore",
    Status.FALSE: "false on purpose",
}

MARKS = {status.value: (whose, status.meaning) for status, whose in _WHOSE.items()}
"""Whose statement it is, in a few words, and how that is known."""

_OWNERS = {"V": "paper", "A": "summary", "D": "ours", "H": "ours"}
"""How a mark is drawn; the others are nobody's."""

_UNKNOWN = "a mark that this page does not know"


def mark(entry: Part) -> dict[str, str] | None:
    """Return the mark of a theorem, assumption or claim: whose it is, and what that means."""
    letter = str(entry.get("status") or "")
    whose, meaning = MARKS.get(letter, ("unknown", entry.get("status_meaning") or _UNKNOWN))
    owner = _OWNERS.get(letter, "none")
    return (
        {"letter": letter, "whose": whose, "owner": owner, "meaning": meaning} if letter else None
    )
