"""The atlas: for each number of classes, columns and symbols the best codebook known.

An atlas is a folder. For each number of symbols q it has

``cells-q.npy``
    A NumPy array of records, :data:`CELL_FIELDS`, sorted by classes, then columns: the figures
    of every cell, and at which byte of the next file its code stands.
``codes-q.jsonl``
    A line of JSON for each code: ``{"how": ..., "recipe": ...}``, see :mod:`ecoc.atlas.recipes`.
    One code serves many cells: with k classes, its first k rows.
``proofs-q.json``
    The proofs of bounds that take long to find. Under ``"L/d"`` why fewer rows than there are
    classes have L columns and pairwise distances of at least d; under ``"k,L"`` why k rows of L
    columns do not. Other bounds are arithmetic, and made again where they are asked for.

and, for all of them, ``matrices.json``: recipes of matrices that other recipes use by name. A
matrix uses only those that stand before it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int
from ecoc._files import PathLike, parse_json, read_bytes
from ecoc.atlas.recipes import Recipe, expand_recipe
from ecoc.bounds import Bound, BoundProblem, averaging_bound, parity_bound, words_bound
from ecoc.bounds.problem import SymbolBoundProblem
from ecoc.bounds.symbols import elementary_symbol_bounds
from ecoc.codes import Codebook, Provenance
from ecoc.errors import FileFormatError, InvalidInputError

__all__ = [
    "CELL_FIELDS",
    "EPOCH",
    "GROUNDS",
    "Atlas",
    "AtlasCell",
    "codebook_digest",
    "get",
    "packaged_atlas",
    "proof_key",
]

CELL_FIELDS = np.dtype(
    [
        ("n_classes", "<u2"),
        ("n_columns", "<u2"),
        ("distance", "<u2"),
        ("bound", "<u2"),
        ("separation", "<u2"),
        ("separation_bound", "<u2"),
        ("imbalance", "<u2"),
        ("date", "<u2"),
        ("ground", "u1"),
        ("searched", "u1"),
        ("code", "<u4"),
        ("digest", "<u8"),
    ]
)
"""The record of a cell. ``date`` counts days from :data:`EPOCH`, ``ground`` is a place in
:data:`GROUNDS`, ``code`` a byte of the file of codes, and a ``separation_bound`` of 0 is none."""

EPOCH = date(2020, 1, 1)

GROUNDS = (
    "averaging",
    "parity",
    "plotkin",
    "singleton",
    "hamming",
    "johnson",
    "delsarte",
    "pairs",
    "inner-products",
    "exhaustive",
)
"""On what a bound may rest. The first five are arithmetic; the last says that the codebook has
every column there is."""

_ARITHMETIC = GROUNDS[:5]
_BY_WORDS = ("johnson", "delsarte")


@dataclass(frozen=True)
class AtlasCell:
    """A cell of the atlas: the best codebook known for its classes, columns and symbols.

    Attributes
    ----------
    n_classes, n_columns, n_symbols : int
        Classes k, columns L and symbols q.
    distance : int
        The least distance of two rows, d.
    bound : int
        No codebook of these sizes with different columns has a larger one.
    argument : str
        Which argument proves the bound, one of :data:`GROUNDS`; :attr:`ground` has it in words.
    separation : int
        The least distance of two columns, the smaller of those to a column and to its
        complement (of more symbols: up to renaming them).
    separation_bound : int or None
        No codebook of this distance has a larger separation; None where nothing is known.
    imbalance : int
        By how many classes the largest and the smallest group of a column differ, at most.
    digest : str
        The first 16 hexadecimal digits of the SHA-256 of the rows as text, as
        :attr:`Codebook.rows` has them, with a line feed between them.
    made : date
        When the codebook came into the atlas.
    is_searched : bool
        Whether a design of its own was made for this cell, which moves columns apart as far as
        it can.

    Examples
    --------
    >>> from ecoc.atlas import get
    >>> cell = get(10, 20)
    >>> cell.distance, cell.bound, cell.is_proved
    (10, 10, True)
    >>> cell.codebook.min_row_distance
    10
    """

    n_classes: int
    n_columns: int
    n_symbols: int
    distance: int
    bound: int
    argument: str
    separation: int
    separation_bound: int | None
    imbalance: int
    digest: str
    made: date
    is_searched: bool
    _atlas: Atlas = field(repr=False, compare=False)
    _place: int = field(repr=False, compare=False)

    @property
    def is_proved(self) -> bool:
        """Whether no codebook has a larger distance."""
        return self.distance == self.bound

    @property
    def is_separated(self) -> bool:
        """Whether no codebook of this distance has a larger separation."""
        return self.separation == self.separation_bound

    @property
    def is_settled(self) -> bool:
        """Whether a design has nothing to add: proved distance, separation met or tried."""
        return self.is_proved and (self.is_searched or self.is_separated)

    @property
    def how(self) -> str:
        """How the codebook was made, in a few words."""
        return self._atlas.code(self.n_symbols, self._place)[0]

    @property
    def recipe(self) -> Recipe:
        """The recipe of the code whose first k rows are the codebook.

        Matrices that it uses by name are in :attr:`Atlas.matrices`.
        """
        return self._atlas.code(self.n_symbols, self._place)[1]

    @property
    def codebook(self) -> Codebook:
        """The codebook, expanded from its recipe and checked against its digest."""
        symbols = expand_recipe(self.recipe, self.n_symbols, self._atlas.matrices)
        rows = symbols[: self.n_classes]
        if rows.shape != (self.n_classes, self.n_columns):
            raise FileFormatError(f"{self._title}: its recipe gives a matrix {symbols.shape}.")
        matrix = 1 - 2 * rows.astype(np.int8) if self.n_symbols == 2 else rows.astype(np.int8)
        codebook = Codebook(
            matrix,
            n_symbols=self.n_symbols,
            name=f"atlas-{self.n_symbols}-{self.n_classes}-{self.n_columns}",
            provenance=Provenance("atlas", {"how": self.how, "date": self.made.isoformat()}),
        )
        if codebook_digest(codebook) != self.digest:
            raise FileFormatError(f"{self._title}: its recipe gives another codebook.")
        return codebook

    @property
    def bound_proof(self) -> Bound | None:
        """The bound with its proof; None where the codebook has every column there is."""
        if self.argument == "exhaustive":
            return None
        if self.argument in _ARITHMETIC:
            bound = _arithmetic_bound(self.argument, self.n_classes, self.n_columns, self.n_symbols)
        else:
            bound = self._atlas.proof(
                self.n_symbols, self.argument, self.n_classes, self.n_columns, self.bound
            )
        if bound is None or bound.value != self.bound:
            raise FileFormatError(
                f"{self._title}: nothing stands behind its bound {self.bound} ({self.argument})."
            )
        return bound

    @property
    def ground(self) -> str:
        """Why no codebook has a larger distance than the bound, in words."""
        bound = self.bound_proof
        return "The codebook has every column there is." if bound is None else bound.reason

    @property
    def _title(self) -> str:
        return (
            f"The cell of {self.n_classes} classes, {self.n_columns} columns and "
            f"{self.n_symbols} symbols"
        )

    def to_plain(self) -> dict[str, Any]:
        """The cell as plain data, with its recipe."""
        return {
            "n_classes": self.n_classes,
            "n_columns": self.n_columns,
            "n_symbols": self.n_symbols,
            "distance": self.distance,
            "bound": self.bound,
            "status": "proved" if self.is_proved else "gap",
            "argument": self.argument,
            "ground": self.ground,
            "separation": self.separation,
            "separation_bound": self.separation_bound,
            "imbalance": self.imbalance,
            "digest": self.digest,
            "date": self.made.isoformat(),
            "how": self.how,
            "recipe": self.recipe,
        }


def codebook_digest(codebook: Codebook) -> str:
    """The digest by which the atlas knows a codebook again.

    Examples
    --------
    >>> codebook_digest(Codebook.from_rows(["+++", "+--", "-+-", "--+"]))
    'a9a0c2a0de0b4008'
    """
    return hashlib.sha256("\n".join(codebook.rows).encode("ascii")).hexdigest()[:16]


def proof_key(argument: str, n_classes: int, n_columns: int, bound: int) -> str:
    """Under which key the proof of a bound is stored.

    Examples
    --------
    >>> proof_key("delsarte", 100, 20, 7), proof_key("pairs", 5, 12, 6)
    ('20/8', '5,12')
    """
    if argument in _BY_WORDS:
        return f"{n_columns}/{bound + 1}"
    return f"{n_classes},{n_columns}"


def _arithmetic_bound(name: str, n_classes: int, n_columns: int, n_symbols: int) -> Bound | None:
    if n_symbols > 2:
        problem = SymbolBoundProblem(n_classes, n_columns, n_symbols)
        return next((b for b in elementary_symbol_bounds(problem) if b.name == name), None)
    rows = BoundProblem(n_classes, n_columns)
    if name == "averaging":
        return averaging_bound(rows)
    return parity_bound(rows) if name == "parity" else words_bound(rows, name)


class Atlas:
    """An atlas in a folder, of which only what is asked for is read.

    Parameters
    ----------
    folder : str or path
        Where the files are.

    Raises
    ------
    FileFormatError
        Where a file is damaged: when it is first read, or a cell of it.

    Examples
    --------
    >>> from ecoc.atlas import packaged_atlas
    >>> atlas = packaged_atlas()
    >>> atlas.get(17, 34).distance
    18
    >>> 2 in atlas.symbols
    True
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)
        self._tables: dict[int, npt.NDArray[np.void]] = {}
        self._proofs: dict[int, dict[str, Any]] = {}

    @cached_property
    def symbols(self) -> tuple[int, ...]:
        """The numbers of symbols that the atlas has cells of."""
        numbers = (path.stem.removeprefix("cells-") for path in self.folder.glob("cells-*.npy"))
        return tuple(sorted(int(number) for number in numbers if number.isdigit()))

    @cached_property
    def matrices(self) -> dict[str, Recipe]:
        """The recipes that others use by name."""
        path = self.folder / "matrices.json"
        return _read_object(path) if path.exists() else {}

    def table(self, n_symbols: int = 2) -> npt.NDArray[np.void]:
        """The records of all cells with so many symbols, see :data:`CELL_FIELDS`.

        They are sorted by classes, then columns, and read from the file as they are used.

        Examples
        --------
        >>> from ecoc.atlas import packaged_atlas
        >>> table = packaged_atlas().table()
        >>> int(table["n_classes"].min()), bool((table["distance"] <= table["bound"]).all())
        (3, True)
        """
        if n_symbols not in self._tables:
            self._tables[n_symbols] = self._read_table(n_symbols)
        return self._tables[n_symbols]

    def _read_table(self, n_symbols: int) -> npt.NDArray[np.void]:
        path = self.folder / f"cells-{n_symbols}.npy"
        if not path.exists():
            return np.empty(0, dtype=CELL_FIELDS)
        try:
            table = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            raise FileFormatError(f"{path}: no table of cells: {error}") from error
        if table.dtype != CELL_FIELDS or table.ndim != 1:
            raise FileFormatError(f"{path}: no table of cells, but {table.dtype}.")
        return np.asarray(table)

    def find(self, n_classes: int, n_columns: int, n_symbols: int = 2) -> AtlasCell | None:
        """The cell of so many classes, columns and symbols; None where the atlas has none."""
        table = self.table(n_symbols)
        low, high = 0, len(table)
        wanted = n_classes, n_columns
        while low < high:
            middle = (low + high) // 2
            record = table[middle]
            if (record["n_classes"], record["n_columns"]) < wanted:
                low = middle + 1
            else:
                high = middle
        if low == len(table):
            return None
        cell = self._cell(table[low], n_symbols)
        return cell if (cell.n_classes, cell.n_columns) == wanted else None

    def get(self, n_classes: int, n_columns: int, n_symbols: int = 2) -> AtlasCell:
        """The cell of so many classes, columns and symbols.

        Raises
        ------
        InvalidInputError
            If the atlas has no such cell; the message says which it has.
        """
        k = check_int("n_classes", n_classes, minimum=2)
        length = check_int("n_columns", n_columns, minimum=1)
        q = check_int("n_symbols", n_symbols, minimum=2)
        cell = self.find(k, length, q)
        if cell is None:
            raise InvalidInputError(
                f"The atlas has no cell of {k} classes, {length} columns and {q} symbols. "
                f"{self._what_there_is(k, q)} ecoc.design_codebook designs any codebook."
            )
        return cell

    def _what_there_is(self, n_classes: int, n_symbols: int) -> str:
        if n_symbols not in self.symbols:
            return f"It has cells of {', '.join(map(str, self.symbols))} symbols."
        table = self.table(n_symbols)
        columns = table["n_columns"][table["n_classes"] == n_classes]
        if columns.size:
            return f"With {n_classes} classes it has {columns.min()} to {columns.max()} columns."
        return (
            f"With {n_symbols} symbols it has {table['n_classes'].min()} to "
            f"{table['n_classes'].max()} classes, past 256 only powers of two."
        )

    def cells(self, n_symbols: int = 2) -> Iterator[AtlasCell]:
        """All cells with so many symbols, sorted by classes, then columns."""
        for record in self.table(n_symbols):
            yield self._cell(record, n_symbols)

    def _cell(self, record: np.void, n_symbols: int) -> AtlasCell:
        (k, length, distance, bound, separation, most, imbalance, days, ground, searched) = (
            int(value) for value in record.item()[:10]
        )
        place, digest = (int(value) for value in record.item()[10:])
        if not (k >= 2 and length >= 1 and 1 <= distance <= bound and ground < len(GROUNDS)):
            raise FileFormatError(
                f"{self.folder}: the record of {k} classes and {length} columns is damaged."
            )
        return AtlasCell(
            k,
            length,
            n_symbols,
            distance,
            bound,
            GROUNDS[ground],
            separation,
            most or None,
            imbalance,
            f"{digest:016x}",
            EPOCH + timedelta(days=days),
            bool(searched),
            self,
            place,
        )

    def code(self, n_symbols: int, place: int) -> tuple[str, Recipe]:
        """How the code at a byte of the file of codes was made, and its recipe."""
        path = self.folder / f"codes-{n_symbols}.jsonl"
        try:
            with path.open("rb") as stream:
                stream.seek(place)
                line = stream.readline(1 << 22)
            code = json.loads(line)
            how, recipe = code["how"], code["recipe"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise FileFormatError(f"{path}: no code at byte {place}: {error}") from error
        if not isinstance(how, str) or not isinstance(recipe, list):
            raise FileFormatError(f"{path}: no code at byte {place}.")
        return how, recipe

    def proofs(self, n_symbols: int = 2) -> dict[str, Any]:
        """The stored proofs of bounds, by their keys."""
        if n_symbols not in self._proofs:
            path = self.folder / f"proofs-{n_symbols}.json"
            self._proofs[n_symbols] = _read_object(path) if path.exists() else {}
        return self._proofs[n_symbols]

    def proof(
        self, n_symbols: int, argument: str, n_classes: int, n_columns: int, value: int
    ) -> Bound | None:
        """The stored proof of a bound; None where there is none."""
        stored = self.proofs(n_symbols).get(proof_key(argument, n_classes, n_columns, value))
        if not isinstance(stored, dict) or stored.get("name") != argument:
            return None
        proof, reason = stored.get("proof"), stored.get("reason")
        if not isinstance(proof, dict) or not isinstance(reason, str):
            return None
        if argument in _BY_WORDS:
            words = proof.get("words")
            size = words.get("size") if isinstance(words, dict) else None
            # It was found for some number of classes, and serves all that are more than fit.
            if type(size) is not int or size >= n_classes:
                return None
        return Bound(argument, value, proof, reason)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        value = parse_json(read_bytes(path))
    except ValueError as error:
        raise FileFormatError(f"{path}: {error}") from error
    if not isinstance(value, dict):
        raise FileFormatError(f"{path}: it must be an object.")
    return value


@cache
def packaged_atlas() -> Atlas:
    """The atlas that comes with the package."""
    return Atlas(str(resources.files(__package__) / "tables"))


def get(n_classes: int, n_columns: int, n_symbols: int = 2) -> AtlasCell:
    """The best codebook known for so many classes, columns and symbols, with its bound.

    Parameters
    ----------
    n_classes, n_columns, n_symbols : int
        Classes k, columns L and symbols q.

    Raises
    ------
    InvalidInputError
        If the atlas has no such cell; the message says which it has.

    Examples
    --------
    >>> cell = get(26, 30)
    >>> cell.distance, cell.bound
    (15, 15)
    >>> cell.codebook.n_columns
    30
    """
    return packaged_atlas().get(n_classes, n_columns, n_symbols)
