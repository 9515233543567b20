"""The same model, the same bytes: files of skops without addresses and times.

What skops writes names every part by its address in memory, and the zip file around it
has the time of each entry, so that no two files of one model are alike.
"""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from typing import Any

__all__ = ["repeatable"]

_SCHEMA = "schema.json"
_FIRST_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip file knows."""


def repeatable(data: bytes) -> bytes:
    """Rewrite a file of skops so that equal models have equal bytes.

    Parts are numbered in the order in which the description names them, sets are sorted, and
    every entry has the same time.
    """
    with zipfile.ZipFile(BytesIO(data)) as file:
        schema = json.loads(file.read(_SCHEMA))
        _sort_sets(schema)
        numbers: dict[int, int] = {}
        names: dict[str, str] = {}
        _renumber(schema, numbers, names)
        entries = {new: file.read(old) for old, new in names.items()}
    entries[_SCHEMA] = json.dumps(schema, indent=2).encode()
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries.items():
            file.writestr(zipfile.ZipInfo(name, _FIRST_TIME), content, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def _sort_sets(node: Any) -> None:
    """Put the members of sets in an order that does not depend on their hashes."""
    for child in _children(node):
        _sort_sets(child)
    if isinstance(node, dict) and node.get("__loader__") == "SetNode":
        inner = node["content"]
        members = inner["content"] if isinstance(inner, dict) else inner
        if isinstance(members, list):
            members.sort(key=_without_numbers)


def _without_numbers(node: Any) -> str:
    copy = json.loads(json.dumps(node))
    _renumber(copy, {}, {})
    return json.dumps(copy, sort_keys=True)


def _renumber(node: Any, numbers: dict[int, int], names: dict[str, str]) -> None:
    if isinstance(node, dict):
        if isinstance(node.get("__id__"), int):
            node["__id__"] = numbers.setdefault(node["__id__"], len(numbers) + 1)
        if isinstance(node.get("file"), str):
            _, dot, suffix = node["file"].rpartition(".")
            node["file"] = names.setdefault(node["file"], f"{len(names) + 1}{dot}{suffix}")
    for child in _children(node):
        _renumber(child, numbers, names)


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []
