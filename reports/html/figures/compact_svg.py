"""matplotlib's SVG made fit for a page: without what the page decides, and in few bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from reports.typography import script_runs

_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_LINK = re.compile(r"^#(.+)")
_COMMANDS = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_AROUND_COMMANDS = re.compile(r"\s*([A-Za-z])\s*")
SHIFT = 3
"""Pixels by which scripts stand below or above the line."""

_DECIMALS = re.compile(r"(\.\d\d)\d+")


def for_html(svg: str, name: str, label: str, palette: Mapping[str, str]) -> str:
    """Return matplotlib's SVG without what a page has to decide: size, fonts, global styles.

    name: ids begin with it.   label: accessible name.   palette: colours by name; each becomes the
    CSS variable --fig-NAME, with the colour as default.
    """
    variables = {colour: f"var(--fig-{key}, {colour})" for key, colour in palette.items()}
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style") or _is_invisible(child):
                parent.remove(child)
    ids: dict[str, str] = {}
    for element in root.iter():
        for key, value in element.attrib.items():
            for used in _REFERENCE.findall(value) + _LINK.findall(value) * key.endswith("href"):
                ids.setdefault(used, f"{name}-{len(ids)}")
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {
            key.rpartition("}")[2]: _attribute(key.rpartition("}")[2], value, ids, variables)
            for key, value in element.attrib.items()
            if not (key == "id" and value not in ids)
        }
        element.tail = None
        if element.tag != "text":
            element.text = None
        if element.get("transform", "").startswith(("rotate(-0 ", "rotate(0 ")):
            del element.attrib["transform"]
    for element in list(root.iter("text")):
        if element.text:
            _set_scripts(element, script_runs(element.text))
    _unwrap(root)
    _join_grid(root, variables[palette["grid"]])
    box = root.get("viewBox", "")
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": box,
        "role": "img",
        "aria-label": label,
        "stroke-linejoin": "round",
    }
    return ElementTree.tostring(root, encoding="unicode")


def _set_scripts(element: ElementTree.Element, runs: Sequence[tuple[str, int]]) -> None:
    """Write runs of text into an element, those off the line smaller and moved."""
    element.text, height = runs[0][0], 0
    for run, level in runs[1:]:
        style = {"font-size": ".78em"} if level else {}
        moved = {"dy": f"{SHIFT * (height - level):g}"}
        ElementTree.SubElement(element, "tspan", {**moved, **style}).text = run
        height = level


def _is_invisible(element: ElementTree.Element) -> bool:
    """Whether an element is a background without ink."""
    return element.get("style") == "fill: none"


def _unwrap(parent: ElementTree.Element) -> None:
    """Remove groups that say nothing, and keep what they hold."""
    kept: list[ElementTree.Element] = []
    for child in parent:
        _unwrap(child)
        plain = child.tag in ("g", "defs") and not child.attrib
        empty = child.tag == "path" and _only_moves(child)
        if child.tag == "g" and plain:
            kept += list(child)
        elif not (plain and not len(child)) and not empty:
            kept.append(child)
    parent[:] = kept


def _join_grid(root: ElementTree.Element, colour: str) -> None:
    """Make one path of all the grid lines of one pair of axes: they lie below everything else."""
    grids: dict[str, ElementTree.Element] = {}
    for element in list(root):
        if f"stroke:{colour}" in element.get("style", ""):
            first = grids.setdefault(element.get("clip-path", ""), element)
            if first is not element:
                first.set("d", first.get("d", "") + element.get("d", ""))
                root.remove(element)


def _only_moves(path: ElementTree.Element) -> bool:
    """Whether a path has no ink: what matplotlib writes beside a single mark."""
    return set(path.get("d", "")) <= set("M .-0123456789")


def _attribute(key: str, value: str, ids: Mapping[str, str], variables: Mapping[str, str]) -> str:
    """Return an attribute as short as it can be, with ids and colours as a page needs them."""
    if key == "id":
        return ids[value]
    if key == "href":
        return _LINK.sub(lambda found: f"#{ids[found[1]]}", value)
    if key == "style":
        kept = [part for part in value.split("; ") if not part.startswith("font-family")]
        value = ";".join(part.replace(": ", ":", 1) for part in kept)
        for colour, variable in variables.items():
            value = value.replace(colour, variable)
    if key in ("d", "x", "y", "transform"):
        value = _DECIMALS.sub(r"\1", value.replace("\n", ""))
    if key == "d":
        value = shorter_path(_AROUND_COMMANDS.sub(r"\1", value))
    return _REFERENCE.sub(lambda found: f"url(#{ids[found[1]]})", value)


def shorter_path(path: str) -> str:
    """Return a path with H and V for level and upright lines, if it is made of straight lines.

    No space stands around its commands.
    """
    parts = _COMMANDS.findall(path)
    if any(command not in "MLz" for command, _ in parts):
        return path
    shortened, here = [], ("", "")
    for command, numbers in parts:
        if command == "z":
            shortened.append("z")
            here = ("", "")
            continue
        x, y = (text.rstrip("0").rstrip(".") if "." in text else text for text in numbers.split())
        if command == "L" and x == here[0]:
            shortened.append(f"V{y}")
        elif command == "L" and y == here[1]:
            shortened.append(f"H{x}")
        else:
            shortened.append(f"{command}{x} {y}")
        here = (x, y)
    return "".join(shortened)
