"""Checking that a number of words of a length and a range of distances do not fit.

Each check assumes one word more than claimed and looks for the contradiction. Nothing is
shared with the modules that find the proofs but the table of published values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import Any

from ecoc.bounds.checking.reading import RejectedError, field, integer, integers, record, text
from ecoc.bounds.problem import KNOWN_SIZES

__all__ = ["Family", "check_words"]

_MAX_LENGTH = 1024
_MAX_DELSARTE_LENGTH = 256


@dataclass(frozen=True)
class Family:
    """Words of length n with pairwise distances from low to high."""

    n: int
    low: int
    high: int

    @property
    def extended(self) -> tuple[int, int]:
        """Length and even least distance of words with even distances, as many as these."""
        return (self.n + 1, self.low + 1) if self.low % 2 else (self.n, self.low)


def check_words(value: object, family: Family) -> tuple[int, bool]:
    """Return the proved number of words, and whether that rests on the published table."""
    proof = record(value, "the proof about words")
    method = text(field(proof, "method"), "method")
    size = integer(field(proof, "size"), "size", low=1)
    if method not in _CHECKS:
        raise RejectedError("the method of the proof about words is not known")
    if family.n > _MAX_LENGTH and method in {"hamming", "johnson"}:
        raise RejectedError(f"{method} is not checked for words longer than {_MAX_LENGTH}")
    if not _CHECKS[method](proof, family, size + 1):
        raise RejectedError(f"{method} does not show that only so many words fit")
    return size, method == "known"


def _alone(_: dict[str, Any], family: Family, too_many: int) -> bool:
    return family.high < family.low and too_many >= 2


def _singleton(_: dict[str, Any], family: Family, too_many: int) -> bool:
    places = max(0, family.n - family.low + 1)
    # Words that agree in all these places are closer than the least distance.
    return too_many.bit_length() > places and too_many > 1 << places


def _hamming(_: dict[str, Any], family: Family, too_many: int) -> bool:
    n, d = family.extended
    ball, shell = 0, 1
    for i in range((d - 2) // 2 + 1):
        ball += shell
        shell = shell * (n - 1 - i) // (i + 1)
    return d <= n and too_many * ball > 1 << (n - 1)


def _plotkin(proof: dict[str, Any], family: Family, too_many: int) -> bool:
    n, d = family.extended
    shortened = integer(field(proof, "shortened"), "shortened", high=min(n, 4096))
    alike = -(-too_many >> shortened)
    return d * comb(alike, 2) > (n - shortened) * (alike // 2) * (alike - alike // 2)


def _grey_rankin(_: dict[str, Any], family: Family, too_many: int) -> bool:
    k = family.n + 1
    largest = k - 2 * family.low
    if family.high != k - family.low or largest < 0:
        return False
    # Squares of inner products: at most this sum, and at least M^2 k by the rank.
    return too_many * k * k + too_many * (too_many - 1) * largest**2 < too_many**2 * k


def _johnson(proof: dict[str, Any], family: Family, too_many: int) -> bool:
    n, d = family.extended
    weight = integer(field(proof, "weight"), "weight", high=n)
    most = _constant_weight(n, d, weight, field(proof, "steps"))
    return too_many * comb(n, weight) > most << (n - 1)


def _constant_weight(n: int, d: int, weight: int, path: object) -> int:
    """Return how many words of a weight fit at most, by the path of Johnson's recursion."""
    steps = text(path, "steps", most=n)
    if set(steps) - {"0", "1"}:
        raise RejectedError("steps must consist of 0 and 1")
    length, ones = n - len(steps), weight - steps.count("1")
    if ones < 0 or ones > length:
        raise RejectedError("steps lead to a weight that does not exist")
    if 2 * ones < d:
        most = 1
    else:
        # The ones of M words of weight w meet pairwise in at most w - d / 2 places.
        room = ones * ones - ones * length + d // 2 * length
        if room <= 0:
            raise RejectedError("steps end where nothing is proved")
        most = d // 2 * length // room
    for step in reversed(steps):
        length += 1
        ones += step == "1"
        most = length * most // (ones if step == "1" else length - ones)
    return most


def _delsarte(proof: dict[str, Any], family: Family, too_many: int) -> bool:
    if family.high >= family.n:
        n, d = family.extended
        distances = range(d, n + 1, 2)
    else:
        n = family.n
        distances = range(family.low, family.high + 1)
    if n > _MAX_DELSARTE_LENGTH:
        raise RejectedError(f"delsarte is not checked beyond length {_MAX_DELSARTE_LENGTH}")
    c = integers(field(proof, "multipliers"), "multipliers", 0, n + 1)
    if not c or c[0] == 0:
        raise RejectedError("the first multiplier must be positive")
    sums = [0] * (n + 1)
    for factor, values in zip(c, _characters(n), strict=False):
        if factor:
            sums = [total + factor * v for total, v in zip(sums, values, strict=True)]
    relaxed = _relaxations(proof.get("weights", []), family, n)
    allowance = sum(u * most for u, most in relaxed.values())
    within = all(sums[i] <= relaxed.get(i, (0, 0))[0] * comb(n, i) for i in distances)
    return within and too_many * c[0] > sum(c) + allowance


def _relaxations(value: object, family: Family, n: int) -> dict[int, tuple[int, int]]:
    """Return by distance what the sum may exceed zero by, and how many words are so far."""
    if type(value) is not list or len(value) > n:
        raise RejectedError("weights is not a list of distances")
    relaxations = {}
    for item in value:
        if type(item) is not list or len(item) != 3:
            raise RejectedError("an entry of weights is not a distance, a number and steps")
        distance = integer(item[0], "a distance", high=n)
        u = integer(item[1], "an allowance")
        # Complements have the same distances, so that weight i counts as n - i.
        weight = min(distance, n - distance)
        relaxations[distance] = (u, _constant_weight(n, family.extended[1], weight, item[2]))
    return relaxations


def _characters(n: int) -> Iterator[list[int]]:
    """Produce for j = 0, ..., n the coefficients of (1 - x)^j (1 + x)^(n - j)."""
    values = [comb(n, i) for i in range(n + 1)]
    while True:
        yield values
        quotient = [values[0]]
        for value in values[1:n]:
            quotient.append(value - quotient[-1])
        quotient.append(0)
        values = [quotient[0], *(b - a for a, b in pairwise(quotient))]


def _known(proof: dict[str, Any], family: Family, too_many: int) -> bool:
    n, d = family.extended
    shortened = integer(field(proof, "shortened"), "shortened", high=min(n, 4096))
    if (n - shortened, d) not in KNOWN_SIZES:
        raise RejectedError("the table of published values has no such entry")
    return too_many > KNOWN_SIZES[n - shortened, d] << shortened


_CHECKS: dict[str, Callable[[dict[str, Any], Family, int], bool]] = {
    "alone": _alone,
    "singleton": _singleton,
    "hamming": _hamming,
    "plotkin": _plotkin,
    "grey-rankin": _grey_rankin,
    "johnson": _johnson,
    "delsarte": _delsarte,
    "known": _known,
}
