"""Which cliques make small covers: tables found by ``tools/find_covers.py``.

The words of Z_2^n form a group in which the conflict graph is a Cayley graph. Its
generators are the unit words and, for the two-sided rule, the word of ones,
because a column and its complement are one dichotomy. A table gives each
generator a syndrome, and hence each word; it names the syndromes at which
cliques are centred, so that a few of them stand for very many cliques.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["CoverTable", "closed_form", "load_tables"]


@dataclass(frozen=True)
class CoverTable:
    """The centres of a cover by cliques of small diameter.

    Attributes
    ----------
    min_column_distance : int
        The column separation, rho; the cliques have diameter rho - 1.
    syndromes : tuple of int
        The syndrome of each generator. For the two-sided rule they sum to 0.
    balls : int
        The set of syndromes, as bits, of the words whose balls of radius
        (rho - 1) // 2 are cliques (odd rho).
    double_balls : tuple of int
        For each generator g, the syndromes of the words u such that the balls
        around u and u + g are together a clique (even rho).
    tetrahedra : tuple of tuple of int
        (t, i, j, l): the words u of syndrome t with u + i + j, u + i + l, u + j + l,
        where i, j, l number generators (rho = 3).
    min_generators : int
        The table also serves graphs with fewer generators, down to this number: the
        last ones are left out. Not so where all are needed for the sum to be 0.
    """

    min_column_distance: int
    syndromes: tuple[int, ...]
    balls: int = 0
    double_balls: tuple[int, ...] = ()
    tetrahedra: tuple[tuple[int, int, int, int], ...] = ()
    min_generators: int = 0

    def to_json(self) -> dict[str, object]:
        """Return what a table file holds, without the parts that are empty."""
        entry: dict[str, object] = {
            "min_column_distance": self.min_column_distance,
            "syndromes": " ".join(f"{s:x}" for s in self.syndromes),
        }
        if self.balls:
            entry["balls"] = f"{self.balls:x}"
        if self.double_balls:
            entry["double_balls"] = " ".join(f"{s:x}" for s in self.double_balls)
        if self.tetrahedra:
            entry["tetrahedra"] = [list(corners) for corners in self.tetrahedra]
        return {**entry, "min_generators": self.min_generators}

    @classmethod
    def from_json(cls, entry: dict[str, object]) -> CoverTable:
        """Read an entry of a table file."""
        return cls(
            min_column_distance=int(str(entry["min_column_distance"])),
            syndromes=_from_hex(entry["syndromes"]),
            balls=int(str(entry.get("balls", "0")), 16),
            double_balls=_from_hex(entry.get("double_balls", "")),
            tetrahedra=tuple(tuple(corners) for corners in entry.get("tetrahedra", ())),  # type: ignore[attr-defined]
            min_generators=int(str(entry["min_generators"])),
        )


def _from_hex(words: object) -> tuple[int, ...]:
    return tuple(int(word, 16) for word in str(words).split())


@cache
def load_tables(separation: str) -> tuple[CoverTable, ...]:
    """Return the tables that the package has for the one-sided or the two-sided rule."""
    text = files(__name__).joinpath(f"{separation}.json").read_text(encoding="utf-8")
    return tuple(CoverTable.from_json(entry) for entry in json.loads(text)["tables"])


def closed_form(n_generators: int, min_column_distance: int, *, sum_to_zero: bool) -> CoverTable:
    """Return the table of all balls, or of the double balls of just enough directions.

    Two words whose difference has weight at most 2r are in a ball of radius r. If
    it has weight 2r + 1, they are in the double ball of each generator in the
    difference, and any p - 2r of the p generators have one in common with it.

    Examples
    --------
    >>> closed_form(3, 3, sum_to_zero=False)
    CoverTable(min_column_distance=3, syndromes=(0, 0, 0), balls=1, double_balls=(),
               tetrahedra=(), min_generators=0)
    """
    if min_column_distance % 2:
        return CoverTable(min_column_distance, (0,) * n_generators, balls=1)
    syndromes = [1] * n_generators
    if sum_to_zero and n_generators % 2:
        syndromes[:3] = [1, 2, 3]
    n_directions = n_generators - min_column_distance + 2
    # Each edge of the hypercube counts once, from the end with the smaller syndrome.
    smaller = [sum(1 << t for t in range(4) if t < t ^ s < 4) for s in syndromes]
    directions = [bits if i < n_directions else 0 for i, bits in enumerate(smaller)]
    return CoverTable(min_column_distance, tuple(syndromes), double_balls=tuple(directions))
