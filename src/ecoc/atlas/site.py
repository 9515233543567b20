"""The pages of the atlas: a map, a page for each cell that checks itself, and data for programs.

Everything is static and needs nothing from a network. Pages read their data as scripts, because
a browser that opens a page from a disk lets it load nothing else; programs read the files of JSON
beside them. Codes are written once each, as recipes, and a page expands what it shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from html import escape
from importlib import metadata, resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._files import PathLike, parse_json
from ecoc.atlas import recipes
from ecoc.atlas.cells import EPOCH, Atlas, AtlasCell, packaged_atlas
from ecoc.errors import FileFormatError, InvalidInputError

__all__ = ["AtlasSite", "write_site"]

_VERSION = metadata.version("ecoc")
SITE_FORMAT = "ecoc-atlas-site"

SENTENCES = {
    "averaging": "A column separates the most pairs of classes when its groups are equal; the "
    "least distance is at most the average over all pairs (Plotkin 1960).",
    "parity": "Distances of rows of equal parity are even, all others odd, which makes the sum "
    "that a least distance needs larger than the average says.",
    "plotkin": "Some rows agree in a few columns; the averages of their distances are taken in "
    "the columns left (Plotkin 1960, Levenshtein 1961).",
    "singleton": "Rows that agree in too many columns are closer than the distance "
    "(Singleton 1964).",
    "hamming": "The balls around rows within which errors are corrected do not meet, and all of "
    "them must have room (Hamming 1950).",
    "johnson": "Some translation gives many rows the same weight, and only so many words of one "
    "weight have the distance (Johnson 1962).",
    "delsarte": "The numbers of pairs at each distance satisfy the inequalities of Delsarte "
    "(1973); multipliers of these inequalities, in whole numbers, leave no room for all rows.",
    "pairs": "With few classes, the pairs of columns by their sizes and inner products are "
    "counted; multipliers in whole numbers exclude every combination.",
    "inner-products": "Equal distances of all rows fix the sums of the inner products of columns, "
    "which the separation does not allow.",
    "exhaustive": "The codebook has every column there is.",
}
"""Why the argument behind a bound holds, for readers."""

_FILE_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class AtlasSite:
    """What was written.

    Attributes
    ----------
    folder : Path
        Where it is; ``index.html`` is the front page.
    n_cells, n_proved, n_files, n_bytes : int
        How many cells there are, how many of them are proved, and the size of all files.
    """

    folder: Path
    n_cells: int
    n_proved: int
    n_files: int
    n_bytes: int


def write_site(
    folder: PathLike,
    *,
    atlas: Atlas | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> AtlasSite:
    """Write the pages of the atlas into a folder.

    Parameters
    ----------
    folder : str or path
        A new or empty folder, or one with an older site, whose files are replaced.
    atlas : Atlas, optional
        The atlas; the one that comes with the package by default.
    progress : callable, optional
        Called with the numbers of cells written and of all.

    Raises
    ------
    InvalidInputError
        If the folder has files in it that are no site, or the atlas has no cells.
    """
    atlas = packaged_atlas() if atlas is None else atlas
    total = sum(len(atlas.table(q)) for q in atlas.symbols)
    if not total:
        raise InvalidInputError(f"The atlas in {atlas.folder} has no cells.")
    writer = _Writer(Path(folder), atlas)
    writer.prepare()
    done = n_proved = 0
    for q in filter(lambda q: len(atlas.table(q)), atlas.symbols):
        for n_shelf in writer.write_symbols(q):
            done += n_shelf
            if progress is not None:
                progress(done, total)
        table = atlas.table(q)
        n_proved += int((table["distance"] == table["bound"]).sum())
    writer.write_front(total, n_proved)
    return AtlasSite(writer.folder, total, n_proved, writer.n_files, writer.n_bytes)


class _Writer:
    """A site while it is written."""

    def __init__(self, folder: Path, atlas: Atlas) -> None:
        self.folder = folder
        self.atlas = atlas
        self.n_files = 0
        self.n_bytes = 0
        self.makers: dict[str, int] = {}
        self.shelves: dict[str, dict[str, Any]] = {}

    def prepare(self) -> None:
        """Make the folder, and refuse one that holds something else."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InvalidInputError(f"{self.folder} is a file; a site needs a folder.")
        if self.folder.is_dir() and any(self.folder.iterdir()) and not self._is_site():
            raise InvalidInputError(
                f"{self.folder} has files in it that are no site of the atlas; give a new folder."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        # The mark comes first, so that a site cut short can be written again.
        self._json("index.json", {"format": SITE_FORMAT})
        self.n_files = self.n_bytes = 0

    def _is_site(self) -> bool:
        try:
            index = parse_json((self.folder / "index.json").read_bytes())
        except (OSError, ValueError):
            return False
        return isinstance(index, dict) and index.get("format") == SITE_FORMAT

    def write_symbols(self, q: int) -> Iterator[int]:
        """Write all cells of so many symbols; produce how many, for each number of classes."""
        table = self.atlas.table(q)
        classes, firsts = np.unique(table["n_classes"], return_index=True)
        cells = self.atlas.cells(q)
        grid = {}
        codes: set[int] = set()
        proofs: set[str] = set()
        for k, records in zip(classes.tolist(), np.split(table, firsts[1:]), strict=True):
            grid[str(k)] = _grid_row(records)
            shelf = {}
            folder = self.folder / str(q) / str(k)
            folder.mkdir(parents=True, exist_ok=True)
            for record in records:
                cell = next(cells)
                place = int(record["code"])
                details = self._details(cell, proofs)
                if place not in codes:
                    codes.add(place)
                    self._code(cell, place)
                how = self.makers.setdefault(cell.how, len(self.makers))
                shelf[str(cell.n_columns)] = [
                    *(cell.argument, details, cell.imbalance, cell.digest),
                    *(cell.made.isoformat(), how, place),
                ]
                self._json(f"{q}/{k}/{cell.n_columns}.json", _plain(cell, place, details))
            self._script(f"{q}/{k}", shelf)
            yield len(records)
        self._script(f"{q}/grid", {"rows": grid})
        proved = int((table["distance"] == table["bound"]).sum())
        self.shelves[str(q)] = {
            "cells": len(table),
            "proved": proved,
            "columns_by_classes": {
                k: [row["first"], row["first"] + len(row["distances"]) - 1]
                for k, row in grid.items()
            },
        }

    def _details(self, cell: AtlasCell, proofs: set[str]) -> dict[str, Any] | str:
        """What the argument of a bound needs; the name of a file where that is long."""
        bound = cell.bound_proof
        words = {} if bound is None else bound.proof.get("words", bound.proof)
        if cell.argument == "delsarte":
            name = f"{cell.n_columns}-{cell.bound + 1}"
            if name not in proofs:
                proofs.add(name)
                # Numbers beyond 2^53 are written as text, which no reader of JSON rounds.
                multipliers = [str(number) for number in words["multipliers"]]
                weights = [[at, str(u), steps] for at, u, steps in words.get("weights", [])]
                proof = {"multipliers": multipliers, "weights": weights}
                self._script(f"{cell.n_symbols}/proofs/{name}", proof)
                self._json(f"{cell.n_symbols}/proofs/{name}.json", proof)
            return name
        kept = ("shortened", "weight", "steps", "largest_sum", "needed_sum")
        return {key: words[key] for key in kept if key in words}

    def _code(self, cell: AtlasCell, place: int) -> None:
        code = {"how": cell.how, "recipe": cell.recipe}
        self._script(f"{cell.n_symbols}/codes/{place}", code)
        self._json(f"{cell.n_symbols}/codes/{place}.json", code)

    def write_front(self, n_cells: int, n_proved: int) -> None:
        """Write the pages, and what they share."""
        for name, recipe in self.atlas.matrices.items():
            if not _FILE_NAME.fullmatch(name):
                raise FileFormatError(f"A matrix of the atlas has the name {name[:40]!r}.")
            self._script(f"matrices/{name}", recipe)
        self._json("matrices.json", self.atlas.matrices)
        symbols = [int(q) for q in self.shelves]
        self._script(
            "catalogue", {"symbols": symbols, "makers": list(self.makers), "sentences": SENTENCES}
        )
        newest = max(int(self.atlas.table(q)["date"].max()) for q in symbols)
        made = (EPOCH + timedelta(days=newest)).isoformat()
        self._text("recipes.txt", f"{(recipes.__doc__ or '').strip()}\n")
        values = {
            "counts": f"{n_cells:,} cells, {n_proved:,} of them proved optimal ({made}).",
            "symbols": "".join(f'<option value="{q}">{q}</option>' for q in symbols),
            "example": _example(self.shelves),
            "citation": escape(_citation(made)),
            "version": escape(_VERSION),
        }
        pages = resources.files("ecoc.atlas") / "pages"
        for name in ("index.html", "cell.html"):
            text = (pages / name).read_text(encoding="utf-8")
            self._text(name, Template(text).substitute(values))
        for name in ("atlas.css", "atlas.js", "checks.js", "index.js", "cell.js"):
            self._text(name, (pages / name).read_text(encoding="utf-8"))
        index = {
            "format": SITE_FORMAT,
            "version": 1,
            "date": made,
            "made_with": f"ecoc {_VERSION}",
            "cells": n_cells,
            "proved": n_proved,
            "paths": {
                "cell": "{symbols}/{classes}/{columns}.json",
                "code": "{symbols}/codes/{code}.json",
                "proof": "{symbols}/proofs/{proof}.json",
                "page": "cell.html?q={symbols}&k={classes}&l={columns}",
                "matrices": "matrices.json",
                "recipes": "recipes.txt",
            },
            "arguments": SENTENCES,
            "symbols": self.shelves,
        }
        self._json("index.json", index)

    def _script(self, path: str, value: object) -> None:
        self._text(f"data/{path}.js", f'Atlas.take("{path}",{_compact(value)});\n')

    def _json(self, path: str, value: object) -> None:
        self._text(path, f"{_compact(value)}\n")

    def _text(self, path: str, text: str) -> None:
        target = self.folder / path
        data = text.encode("utf-8")
        try:
            target.write_bytes(data)
        except FileNotFoundError:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        self.n_files += 1
        self.n_bytes += len(data)


def _grid_row(records: npt.NDArray[np.void]) -> dict[str, Any]:
    """The figures of all cells with one number of classes, as lists over the columns."""
    columns = records["n_columns"].astype(int)
    first = int(columns[0])
    fields = {
        "distances": "distance",
        "bounds": "bound",
        "apart": "separation",
        "apartBounds": "separation_bound",
    }
    row: dict[str, Any] = {"first": first}
    for name, field in fields.items():
        # Where the atlas has no cell, and where it knows no bound, stands nothing.
        values: list[int | None] = [None] * (int(columns[-1]) - first + 1)
        for column, value in zip(columns.tolist(), records[field].tolist(), strict=True):
            values[column - first] = value if value or name == "apart" else None
        row[name] = values
    return row


def _plain(cell: AtlasCell, place: int, details: dict[str, Any] | str) -> dict[str, Any]:
    """A cell for programs; its code, how that was made, and a long proof are in shared files."""
    return {
        "n_classes": cell.n_classes,
        "n_columns": cell.n_columns,
        "n_symbols": cell.n_symbols,
        "distance": cell.distance,
        "bound": cell.bound,
        "argument": cell.argument,
        "proof": details,
        "separation": cell.separation,
        "separation_bound": cell.separation_bound,
        "imbalance": cell.imbalance,
        "code": place,
        "digest": cell.digest,
        "date": cell.made.isoformat(),
    }


def _example(shelves: dict[str, dict[str, Any]]) -> str:
    symbols, shelf = next(iter(shelves.items()))
    classes = shelf["columns_by_classes"]
    k = "26" if "26" in classes else next(iter(classes))
    first, last = classes[k]
    return f"{symbols}/{k}/{min(max(30, first), last)}.json"


def _citation(made: str) -> str:
    return (
        "@misc{ecoc-atlas,\n"
        "  title  = {The atlas of optimal codebooks},\n"
        "  author = {{The ecoc developers}},\n"
        f"  year   = {{{made[:4]}}},\n"
        f"  note   = {{ecoc {_VERSION}, data of {made}; cell q/k/L, digest D}},\n"
        "}"
    )


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)
