"""Linear codes that a search found or that are published, each kept as a matrix and a few points.

A linear code of q^m words is a list of m-digit columns (its points), and any matrix of the m
digits carries a point along an orbit. Codes whose points are whole orbits of one matrix are the
cyclic, quasi-cyclic and quasi-twisted codes; most of the best linear codes known are among them
(Chen 1969, Gulliver & Bhargava 1991, Braun, Kohnert & Wassermann 2005), and a polynomial and a
point for each orbit say all about one. The matrix is the multiplication by x modulo a product of
polynomials, together with the Frobenius map x -> x^(q^s) where that is named. Without
polynomials there is no matrix, and the points are all columns.

The table in ``tables/orbit_codes.json`` has, for each number of symbols and each dimension, lists
of length, distance, polynomials, s (0: no Frobenius map), points, in how many places the code
can be shortened, and where it comes from if no search found it. Polynomials and points are numbers
in base q whose digits are coefficients, the constant term first. ``tools/find_linear_codes.py``
finds such codes; tests count the distance of every one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import numpy as np

from ecoc._typing import Ints
from ecoc.constructions.fields import galois_field

__all__ = ["Arithmetic", "OrbitCode", "arithmetic", "orbit_codes"]


class Arithmetic:
    """Tables of sums and products of a small field, and polynomials modulo one of them.

    Polynomials are tuples of coefficients, the constant term first.

    Attributes
    ----------
    order : int
        The number of elements, q.
    sums, products : ndarray of shape (q, q)
        What two elements give.
    negative, inverse : ndarray of shape (q,)
        What is added to an element to give 0, and what it is multiplied by to give 1.
    """

    def __init__(self, order: int) -> None:
        field = galois_field(order)
        elements = np.arange(order)
        self.order = order
        self.sums: Ints = field.subtract(elements[:, None], field.subtract(0, elements)[None, :])
        self.products: Ints = np.zeros((order, order), dtype=np.int64)
        logs = field.logarithms[1:]
        self.products[1:, 1:] = field.powers[(logs[:, None] + logs[None, :]) % (order - 1)]
        self.negative = field.subtract(0, elements)
        self.inverse: Ints = (self.products == 1).argmax(axis=1)

    def digits(self, number: int, n_digits: int = 0) -> tuple[int, ...]:
        """The digits of a number in base q, the last place first, at least so many."""
        places: list[int] = []
        while number or len(places) < n_digits:
            number, digit = divmod(number, self.order)
            places.append(digit)
        return tuple(places)

    def times_x(self, point: tuple[int, ...], monic: tuple[int, ...]) -> tuple[int, ...]:
        """The product of x and a polynomial, modulo a monic polynomial.

        Examples
        --------
        >>> arithmetic(2).times_x((0, 0, 1), (1, 1, 0, 1))
        (1, 1, 0)
        """
        factor = self.negative[point[-1]]
        shifted = (0, *point[:-1])
        pairs = zip(shifted, monic[:-1], strict=True)
        return tuple(int(self.sums[a, self.products[factor, b]]) for a, b in pairs)

    def images_of_x(self, monic: tuple[int, ...], s: int) -> Ints:
        """The matrix of the map x -> x^(q^s) modulo a monic polynomial, a row for each power of x.

        Examples
        --------
        >>> arithmetic(2).images_of_x((1, 1, 0, 1), 1)
        array([[1, 0, 0],
               [0, 0, 1],
               [0, 1, 1]])
        """
        degree = len(monic) - 1
        power = (1, *(0,) * (degree - 1))
        rows = []
        for _ in range(degree):
            rows.append(power)
            for _ in range(self.order):
                power = self.times_x(power, monic)
        once = np.array(rows, dtype=np.int64)
        images = once
        for _ in range(s - 1):
            images = np.array([self.image(row, once) for row in images])
        return images

    def image(self, point: Ints, matrix: Ints) -> Ints:
        """The product of a row of digits and a matrix."""
        total = np.zeros(matrix.shape[1], dtype=np.int64)
        for digit, row in zip(point, matrix, strict=True):
            if digit:
                total = self.sums[total, self.products[digit, row]]
        return total

    def normal(self, columns: Ints) -> Ints:
        """The multiples of columns whose first digits that are not 0 are 1.

        Examples
        --------
        >>> arithmetic(3).normal(np.array([[0, 2], [2, 1]])).tolist()
        [[0, 1], [1, 2]]
        """
        places = (columns != 0).argmax(axis=0)
        leads = columns[places, np.arange(columns.shape[1])]
        multiples: Ints = self.products[self.inverse[leads], columns]
        return multiples

    def shortened(self, rows: Ints) -> Ints | None:
        """The code shortened in the first place for which columns stay different, if there is one.

        Examples
        --------
        The simplex code has a column between any two, so each place would make others equal:

        >>> rows = np.array([[1, 0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 1]])
        >>> arithmetic(2).shortened(rows) is None
        True
        >>> arithmetic(2).shortened(rows[:, :4])
        array([[1, 0, 1],
               [0, 1, 1]])
        """
        for place in range(rows.shape[1]):
            # The columns modulo this one: the row that has a 1 here takes it out of the others.
            column = self.normal(rows[:, [place]])[:, 0]
            pivot = int(np.flatnonzero(column)[0])
            factors = self.negative[column]
            left: Ints = self.sums[rows, self.products[factors[:, None], rows[pivot]]]
            left = np.delete(np.delete(left, pivot, axis=0), place, axis=1)
            if not left.any(axis=0).all():
                continue
            if np.unique(self.normal(left), axis=1).shape[1] == left.shape[1]:
                return left
        return None


@lru_cache(maxsize=8)
def arithmetic(order: int) -> Arithmetic:
    """The tables of the field of the given order, made once."""
    return Arithmetic(order)


@dataclass(frozen=True)
class OrbitCode:
    """A linear code whose columns are whole orbits of a matrix.

    Parameters
    ----------
    n_symbols, dimension, length, distance : int
        q, m, n and d: q^m words of n symbols, at least d apart.
    polynomials : tuple of int
        The matrix multiplies by x modulo each of these; their degrees add up to m.
    frobenius : int
        The matrix also maps x to x^(q^s) with this s; not if it is 0.
    points : tuple of int
        A point of each orbit.
    max_shortening : int
        In how many places it can be shortened before columns repeat.
    source : str
        How the code was found, or who found it.

    Examples
    --------
    A cyclic code is one orbit:

    >>> code = next(c for c in orbit_codes(2) if c.length == 51 and c.dimension == 8)
    >>> code.distance, len(code.points), code.generator().shape
    (24, 1, (8, 51))
    """

    n_symbols: int
    dimension: int
    length: int
    distance: int
    polynomials: tuple[int, ...]
    frobenius: int
    points: tuple[int, ...]
    max_shortening: int = 0
    source: str = "search"

    def generator(self, n_shortened: int = 0) -> Ints:
        """A generator matrix, m x n, or that of the code shortened in so many places."""
        field = arithmetic(self.n_symbols)
        seen: dict[tuple[int, ...], None] = {}
        matrices = self.matrices()
        for number in self.points:
            # The orbit as a walk: all images of all that was reached.
            reached = [np.array(field.digits(number, self.dimension))]
            while reached:
                point = field.normal(reached.pop()[:, None])[:, 0]
                key = tuple(point.tolist())
                if key not in seen:
                    seen[key] = None
                    reached.extend(field.image(point, matrix) for matrix in matrices)
        rows = np.array(list(seen), dtype=np.int64).T
        for _ in range(n_shortened):
            left = field.shortened(rows)
            if left is None:
                raise ValueError("The code has no place left to shorten it.")
            rows = left
        return rows

    def matrices(self) -> list[Ints]:
        """The matrices whose orbits the columns are, for points as rows of digits."""
        if not self.polynomials:
            return []
        field = arithmetic(self.n_symbols)
        steps = [self.frobenius] if self.frobenius else []
        blocks = []
        for monic in map(field.digits, self.polynomials):
            shift = np.array(
                [field.times_x(tuple(row), monic) for row in np.eye(len(monic) - 1, dtype=int)]
            )
            blocks.append([shift, *(field.images_of_x(monic, s) for s in steps)])
        return [_diagonal([block[i] for block in blocks]) for i in range(1 + len(steps))]


def _diagonal(blocks: list[Ints]) -> Ints:
    size = sum(len(block) for block in blocks)
    matrix = np.zeros((size, size), dtype=np.int64)
    start = 0
    for block in blocks:
        matrix[start : start + len(block), start : start + len(block)] = block
        start += len(block)
    return matrix


@lru_cache(maxsize=8)
def orbit_codes(n_symbols: int) -> tuple[OrbitCode, ...]:
    """The codes of so many symbols that the table has, the shortest first."""
    text = (resources.files(__package__) / "tables" / "orbit_codes.json").read_text("ascii")
    by_dimension = json.loads(text).get(str(n_symbols), {})
    codes = [
        OrbitCode(
            n_symbols, int(dimension), n, d, tuple(polynomials), s, tuple(points), most, *source
        )
        for dimension, rows in by_dimension.items()
        for n, d, polynomials, s, points, most, *source in rows
    ]
    return tuple(sorted(codes, key=lambda code: (code.length, code.dimension)))
