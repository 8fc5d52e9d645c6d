"""Characters that a text of others must not bring to a reader: they hide, move or turn round."""

from __future__ import annotations

import re

CONTROLS = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # a terminal obeys them
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # text is shown in another order
)
"""Control characters but tabs and line ends, and those of bidirectional text, as a regular
expression has them between brackets."""

_CONTROL = re.compile(f"[{CONTROLS}]")


def escaped(text: str) -> str:
    """Return a text with its control characters as JSON writes them: \\u001b, \\u202e."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    """Return a text of others on one line: line ends and tabs are shown too, as \\n and \\t."""
    return _LINE_END.sub(lambda found: repr(found[0])[1:-1], escaped(text))


_LINE_END = re.compile("[\t\n\r\u2028\u2029]")
