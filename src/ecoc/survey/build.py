"""Building an atlas: cell after cell, where it was left, and only for the better."""

from __future__ import annotations

import io
import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ecoc._checks import check_int, check_number
from ecoc._files import PathLike, write_atomically
from ecoc._typing import Ints
from ecoc._workers import one_thread, tethered
from ecoc.atlas.cells import CELL_FIELDS, EPOCH, GROUNDS, Atlas, proof_key
from ecoc.atlas.recipes import Recipe, expand_recipe
from ecoc.bounds import (
    Bound,
    BoundProblem,
    averaging_bound,
    best_bound,
    parity_bound,
    separation_bound,
)
from ecoc.bounds.problem import SymbolBoundProblem
from ecoc.bounds.symbols import best_symbol_bound, elementary_symbol_bounds
from ecoc.design.result import n_partitions
from ecoc.survey.corners import KnownCodes, corner_codes
from ecoc.survey.leaves import as_symbols, describe_words
from ecoc.survey.lengths import CodeFigures, SurveyedCode, codes_of_lengths
from ecoc.survey.powers import power_codes
from ecoc.survey.symbols import measure_codebook, symbol_codes_of_lengths

__all__ = ["SURVEYED_SYMBOLS", "BuildOutcome", "BuildProgress", "build_atlas"]

SURVEYED_SYMBOLS = (2, 3, 4, 5, 8, 10)

_MOST_CLASSES = {2: 256}
_MOST_CLASSES_OF_MORE = 64
_COLUMNS_PER_CLASS = {2: 3}
_COLUMNS_PER_CLASS_OF_MORE = 2
_MOST_POWER = 14
_MOST_COLUMNS_OF_POWERS = 64
_LENGTHS_AT_A_TIME = 8
_SECONDS_BETWEEN_FILES = 60.0
_DESIGN_EFFORT = 0.1
_STORED = ("johnson", "delsarte", "pairs", "inner-products")


@dataclass(frozen=True)
class BuildProgress:
    """How far a build is: units of work done, of how many, and the cells in the atlas."""

    done: int
    total: int
    n_cells: int


@dataclass(frozen=True)
class BuildOutcome:
    """What a build did.

    Attributes
    ----------
    n_cells, n_proved : int
        The cells of the atlas, and those whose distance meets its bound.
    n_new, n_better : int
        Cells that came in, and cells that were replaced by better ones.
    is_complete : bool
        Whether everything was done; not so after Ctrl-C.
    """

    n_cells: int
    n_proved: int
    n_new: int
    n_better: int
    is_complete: bool


@dataclass(frozen=True)
class _Bounds:
    """The bounds of a cell, and the proof that is to be stored with it, if any."""

    bound: int
    argument: str
    separation_bound: int
    proof: dict[str, Any] | None


@dataclass(frozen=True)
class _Unit:
    """A unit of work: some lengths, and the numbers of classes that are surveyed."""

    n_symbols: int
    shortest: int
    longest: int
    low: int
    high: int

    def classes(self, length: int) -> tuple[int, int] | None:
        """The least and the largest number of classes of a length that has cells."""
        fitting = [
            k for k in range(self.low, self.high + 1) if _has_cell(k, length, self.n_symbols)
        ]
        return (fitting[0], fitting[-1]) if fitting else None


def build_atlas(
    folder: PathLike,
    *,
    n_symbols: Sequence[int] = SURVEYED_SYMBOLS,
    classes: tuple[int, int] = (3, 1 << _MOST_POWER),
    improve: bool = False,
    design: bool = False,
    effort: float = 1.0,
    n_jobs: int = 1,
    progress: Callable[[BuildProgress], object] | None = None,
) -> BuildOutcome:
    """Fill the atlas in a folder, or improve it.

    What is done is written every minute and at the end, also on Ctrl-C, and a later build
    goes on from there. A cell is replaced only by one with a larger distance, or with the
    same and better separated columns, or with more balanced ones beside.

    Parameters
    ----------
    folder : str or path
        Where the atlas is, or will be.
    n_symbols : sequence of int, default=(2, 3, 4, 5, 8, 10)
        The numbers of symbols to survey.
    classes : (int, int)
        The least and the largest number of classes to survey.
    improve : bool, default=False
        Work again where the distance of a cell is open: on its length, or with several symbols
        on the cells that settle most others.
    design : bool, default=False
        Design a codebook for every cell that is missing or open, in its distance or in the
        separation of its columns, once; with several symbols also where groups are uneven.
        Seconds each.
    effort : float, default=1
        With several symbols, how much work `improve` does for each code; more finds others.
    n_jobs : int, default=1
        How many processes work at a time.
    progress : callable, optional
        Called with a :class:`BuildProgress` after each unit of work.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     build_atlas(folder, n_symbols=[2], classes=(8, 8)).n_proved
    21
    """
    for q in n_symbols:
        check_int("n_symbols", q, minimum=2, maximum=36)
    check_number("effort", effort, minimum=0)
    low = check_int("classes[0]", classes[0], minimum=3)
    high = check_int("classes[1]", classes[1], minimum=low)
    Path(folder).mkdir(parents=True, exist_ok=True)
    drafts = {q: _Draft(Path(folder), q) for q in n_symbols}
    units = [
        unit
        for q in n_symbols
        for unit in _units(q, low, high)
        if drafts[q].lacks(unit, or_open=improve and q == 2)
    ]
    limit = max((unit.longest for unit in units), default=0)
    open_cells = _open_cells(drafts, low, high) if design else []
    corners = [drafts[q] for q in n_symbols if improve and q > 2]
    n_levels = sum(draft.n_levels(low, high) for draft in corners)
    total = len(units) + n_levels + len(open_cells)
    done = 0
    complete = False
    written = time.monotonic()
    try:
        for q, surveyed in itertools.chain(
            _spread(_surveyed, [(unit, limit) for unit in units], n_jobs),
            _improved(corners, low, high, effort),
            _spread(_designed, open_cells, n_jobs),
        ):
            for code, bounds in surveyed:
                drafts[q].take(code, bounds)
            done += 1
            if progress is not None:
                n_cells = sum(draft.n_cells for draft in drafts.values())
                progress(BuildProgress(done, total, n_cells))
            if time.monotonic() - written > _SECONDS_BETWEEN_FILES:
                _write(drafts)
                written = time.monotonic()
        complete = True
    except KeyboardInterrupt:
        pass
    finally:
        _write(drafts)
    return BuildOutcome(
        sum(draft.n_cells for draft in drafts.values()),
        sum(draft.n_proved for draft in drafts.values()),
        sum(draft.n_new for draft in drafts.values()),
        sum(draft.n_better for draft in drafts.values()),
        complete,
    )


_Surveyed: TypeAlias = "tuple[int, list[tuple[SurveyedCode, list[_Bounds]]]]"
"""The symbols of some codes, and each code with the bounds of the cells that it serves."""


def _surveyed(unit: _Unit, limit: int) -> _Surveyed:
    return unit.n_symbols, survey_unit(unit, limit)


def _improved(drafts: list[_Draft], low: int, high: int, effort: float) -> Iterator[_Surveyed]:
    """What becomes better if open cells that settle others are worked on, in this process."""
    for draft in drafts:
        with one_thread():
            for codes in corner_codes(draft.known_codes(), low, high, effort=effort):
                yield (
                    draft.n_symbols,
                    [
                        (code, [_bounds(code, figures) for figures in code.figures])
                        for code in codes
                    ],
                )


def _spread(
    work: Callable[..., _Surveyed], calls: Sequence[tuple[Any, ...]], n_jobs: int
) -> Iterator[_Surveyed]:
    """Do the work of all calls, in processes if several are wanted."""
    if n_jobs == 1:
        for call in calls:
            yield work(*call)
        return
    from joblib import Parallel, delayed

    told = tethered(work)
    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(told)(*call) for call in calls
    )


def _open_cells(drafts: dict[int, _Draft], low: int, high: int) -> list[tuple[int, int, int]]:
    """The cells that a design may fill or better, those of few classes first."""
    cells = []
    for q, draft in drafts.items():
        most = _MOST_CLASSES.get(q, _MOST_CLASSES_OF_MORE)
        powers = [1 << power for power in range(_MOST_POWER + 1) if q == 2 and 1 << power > most]
        for k in [*range(max(3, q), most + 1), *powers]:
            rate = _COLUMNS_PER_CLASS.get(q, _COLUMNS_PER_CLASS_OF_MORE)
            lengths = range(2, (rate * k if k <= most else _MOST_COLUMNS_OF_POWERS) + 1)
            if low <= k <= high:
                cells += [
                    (k, length, q)
                    for length in lengths
                    if _has_cell(k, length, q) and draft.is_open(k, length)
                ]
    return sorted(cells)


def _designed(k: int, length: int, n_symbols: int) -> _Surveyed:
    from ecoc.design import design_codebook

    with one_thread():
        codebook = design_codebook(
            k, length, n_symbols=n_symbols, effort=_DESIGN_EFFORT, random_state=0
        ).codebook
        figures = None
        if codebook is not None and codebook.n_columns == length:
            figures = measure_codebook(codebook.matrix.astype(np.int64), n_symbols)
        if codebook is None or figures is None:
            return n_symbols, []
        matrix = codebook.matrix
        words = as_symbols(matrix) if n_symbols == 2 else matrix.astype(np.uint8)
        how = "designed" if codebook.provenance is None else codebook.provenance.method
        code = SurveyedCode(
            *(length, n_symbols, how, describe_words(words, n_symbols), (), (figures,)),
            searched=True,
        )
        return n_symbols, [(code, [_bounds(code, figures)])]


# ---------------------------------------------------------------------------- units


def _units(n_symbols: int, low: int, high: int) -> Iterator[_Unit]:
    """The cells to survey, by their lengths."""
    most = min(high, _MOST_CLASSES.get(n_symbols, _MOST_CLASSES_OF_MORE))
    rate = _COLUMNS_PER_CLASS.get(n_symbols, _COLUMNS_PER_CLASS_OF_MORE)
    for shortest in range(1, rate * most + 1 if low <= most else 0, _LENGTHS_AT_A_TIME):
        longest = min(shortest + _LENGTHS_AT_A_TIME - 1, rate * most)
        yield _Unit(n_symbols, shortest, longest, max(low, n_symbols), most)
    if n_symbols == 2:
        for power in range(most.bit_length() - 1, _MOST_POWER + 1):
            if max(low, _MOST_CLASSES[2] + 1) <= 1 << power <= high:
                yield _Unit(2, power, _MOST_COLUMNS_OF_POWERS, 1 << power, 1 << power)


def _has_cell(k: int, length: int, n_symbols: int) -> bool:
    rate = _COLUMNS_PER_CLASS.get(n_symbols, _COLUMNS_PER_CLASS_OF_MORE)
    if length > rate * k or n_symbols**length < k:
        return False
    if k > _MOST_CLASSES[2]:
        return length <= _MOST_COLUMNS_OF_POWERS
    # There are only so many different columns.
    return k > 12 or length <= n_partitions(k, n_symbols)


def survey_unit(unit: _Unit, limit: int) -> list[tuple[SurveyedCode, list[_Bounds]]]:
    """The codes of a unit, and the bounds of the cells that they serve."""
    with one_thread():
        if unit.low > _MOST_CLASSES[2]:
            codes = power_codes(unit.low.bit_length() - 1, unit.shortest, unit.longest)
        elif unit.n_symbols > 2:
            codes = symbol_codes_of_lengths(
                unit.n_symbols, unit.shortest, unit.longest, unit.classes
            )
        else:
            codes = codes_of_lengths(unit.shortest, unit.longest, unit.classes, limit)
        return _bounded(codes)


def _bounded(codes: list[SurveyedCode]) -> list[tuple[SurveyedCode, list[_Bounds]]]:
    return [(code, [_bounds(code, figures) for figures in code.figures]) for code in codes]


def _bounds(code: SurveyedCode, figures: CodeFigures) -> _Bounds:
    k, length, q = figures.n_classes, code.n_columns, code.n_symbols
    if q > 2:
        bound = _symbol_bound(SymbolBoundProblem(k, length, q), figures.distance)
        most = 0
    else:
        bound = _row_bound(BoundProblem(k, length), figures.distance)
        most = separation_bound(k, length, min_row_distance=figures.distance).value
    proof = None
    if bound.name in _STORED:
        proof = {"name": bound.name, "reason": bound.reason, "proof": bound.proof}
    return _Bounds(bound.value, bound.name, most, proof)


def _row_bound(problem: BoundProblem, distance: int) -> Bound:
    """The simplest bound that the distance meets, else the best."""
    for bound in (averaging_bound(problem), parity_bound(problem)):
        if bound.value == distance:
            return bound
    return best_bound(problem)


def _symbol_bound(problem: SymbolBoundProblem, distance: int) -> Bound:
    """The simplest bound if the distance meets it, else the best."""
    bound = elementary_symbol_bounds(problem)[0]
    return bound if bound.value == distance else best_symbol_bound(problem)


# --------------------------------------------------------------------------- drafts


class _Draft:
    """The cells of one number of symbols in the making."""

    def __init__(self, folder: Path, n_symbols: int) -> None:
        self.folder, self.n_symbols = folder, n_symbols
        self.codes: list[tuple[str, Recipe]] = []
        self.records: dict[tuple[int, int], dict[str, int]] = {}
        self.proofs: dict[str, Any] = {}
        self.matrices: dict[str, Recipe] = {}
        self.n_new = self.n_better = 0
        self.changed = False
        self._read()

    def _read(self) -> None:
        atlas = Atlas(self.folder)
        self.matrices = dict(atlas.matrices)
        places: dict[int, int] = {}
        names = CELL_FIELDS.names or ()
        for record in atlas.table(self.n_symbols).tolist():
            fields = dict(zip(names, record, strict=True))
            place = fields["code"]
            if place not in places:
                places[place] = len(self.codes)
                self.codes.append(atlas.code(self.n_symbols, place))
            fields["code"] = places[place]
            self.records[fields["n_classes"], fields["n_columns"]] = fields
        self.proofs = atlas.proofs(self.n_symbols)

    @property
    def n_cells(self) -> int:
        return len(self.records)

    @property
    def n_proved(self) -> int:
        return sum(record["distance"] == record["bound"] for record in self.records.values())

    def lacks(self, unit: _Unit, *, or_open: bool) -> bool:
        """Whether a cell of the unit is missing, or its distance open if that counts."""
        return any(
            (record := self.records.get((k, length))) is None
            or (or_open and record["distance"] < record["bound"])
            for length in range(unit.shortest, unit.longest + 1)
            for k in range(unit.low, unit.high + 1)
            if _has_cell(k, length, self.n_symbols)
        )

    def known_codes(self) -> KnownCodes:
        """The codes of several symbols, as far as they are known."""
        cells = {key: (record["distance"], record["bound"]) for key, record in self.records.items()}
        return KnownCodes(self.n_symbols, cells, self._matrix)

    def _matrix(self, k: int, length: int) -> Ints:
        recipe = self.codes[self.records[k, length]["code"]][1]
        return expand_recipe(recipe, self.n_symbols, self.matrices)[:k].astype(np.int64)

    def n_levels(self, low: int, high: int) -> int:
        """How many steps it takes to work on open cells."""
        return 1 + len(self.known_codes().levels(low, high))

    def is_open(self, k: int, length: int) -> bool:
        """Whether a cell is missing, or not searched yet with something left to search for."""
        record = self.records.get((k, length))
        if record is None:
            return True
        uneven = self.n_symbols > 2 and record["imbalance"] > 1
        apart = record["separation"] < record["separation_bound"]
        return not record["searched"] and (record["distance"] < record["bound"] or apart or uneven)

    def take(self, code: SurveyedCode, bounds: list[_Bounds]) -> None:
        """Take a code for the cells in which it is better than what is there."""
        self.matrices = self.matrices | dict(code.uses)
        number = len(self.codes)
        self.codes.append((code.how, code.recipe))
        days = (datetime.now(timezone.utc).date() - EPOCH).days
        for figures, limits in zip(code.figures, bounds, strict=True):
            key = figures.n_classes, code.n_columns
            old = self.records.get(key)
            if old is not None and not _is_better(figures, code, old):
                continue
            self.n_new += old is None
            self.n_better += old is not None
            self.changed = True
            self.records[key] = {
                "n_classes": figures.n_classes,
                "n_columns": code.n_columns,
                "distance": figures.distance,
                "bound": limits.bound,
                "separation": figures.separation,
                "separation_bound": limits.separation_bound,
                "imbalance": figures.imbalance,
                "date": days,
                "ground": GROUNDS.index(limits.argument),
                "searched": int(code.searched),
                "code": number,
                "digest": figures.digest,
            }
            if limits.proof is not None:
                place = proof_key(limits.argument, *key, limits.bound)
                # A proof that is there already serves these rows too, by whatever argument.
                argument = self.proofs.setdefault(place, limits.proof)["name"]
                self.records[key]["ground"] = GROUNDS.index(argument)

    def write(self) -> None:
        """Write all files of these symbols; only codes that a cell uses are kept."""
        if not self.changed:
            return
        lines: list[bytes] = []
        places: dict[int, int] = {}
        size = 0
        table = np.zeros(len(self.records), dtype=CELL_FIELDS)
        for i, key in enumerate(sorted(self.records)):
            record = self.records[key]
            if record["code"] not in places:
                how, recipe = self.codes[record["code"]]
                places[record["code"]] = size
                line = json.dumps({"how": how, "recipe": recipe}, separators=(",", ":"))
                lines.append(f"{line}\n".encode("ascii"))
                size += len(lines[-1])
            placed = record | {"code": places[record["code"]]}
            table[i] = tuple(placed[name] for name in CELL_FIELDS.names or ())
        stream = io.BytesIO()
        np.save(stream, table, allow_pickle=False)
        write_atomically(self.folder / f"codes-{self.n_symbols}.jsonl", b"".join(lines))
        write_atomically(
            self.folder / f"proofs-{self.n_symbols}.json", _json(dict(sorted(self.proofs.items())))
        )
        write_atomically(self.folder / f"cells-{self.n_symbols}.npy", stream.getvalue())
        self.changed = False


def _is_better(figures: CodeFigures, code: SurveyedCode, old: dict[str, int]) -> bool:
    """Whether a code serves a cell better than what is there; a search counts at equal figures."""
    new = *figures.rank, int(code.searched)
    return new > (old["distance"], old["separation"], -old["imbalance"], old["searched"])


def _write(drafts: dict[int, _Draft]) -> None:
    if not any(draft.changed for draft in drafts.values()):
        return
    matrices: dict[str, Recipe] = {}
    for draft in drafts.values():
        matrices |= draft.matrices
    folder = next(iter(drafts.values())).folder
    # Matrices come first: codes that use them must never stand in a folder without them.
    write_atomically(folder / "matrices.json", _json(matrices))
    for draft in drafts.values():
        draft.write()


def _json(value: object) -> bytes:
    return (json.dumps(value, separators=(",", ":")) + "\n").encode("ascii")
