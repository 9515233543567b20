"""The coupling of symbols as compiled code: samples go through the steps side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._numba import copy_to, njit
from ecoc._typing import Floats, Ints

__all__ = ["couple_symbols"]

_LANES = 64
"""Samples that are worked on at once; with fewer the compiler unrolls the innermost loops instead
of making vectors of them."""

_LEAST = 1e-12
"""No class is ever ruled out for good: a step could not bring it back."""

_TINY = 1e-30
"""What keeps from dividing by 0, in single precision too."""

_LONGEST_LEAP = 30.0


@njit
def couple_symbols(
    places: Ints,
    said: npt.NDArray[np.floating[Any]],
    doubt: float,
    max_iter: int,
    tolerance: float,
) -> npt.NDArray[np.floating[Any]]:
    """Class probabilities by EM, sped up by extrapolation.

    Two steps of EM, then a leap along them (SQUAREM; Varadhan & Roland 2008), a shorter one
    where the last led away from the optimum. Leaps end halfway to `max_iter`: steps alone are
    slow but always get there. A sample that has converged makes way for the next one.

    Parameters
    ----------
    places : array of int of shape (n_classes, n_columns)
        Where the symbol of a class stands among what is said.
    said : array of shape (n_samples, n_places)
        The probabilities of symbols, times the weights of their columns. All is computed in
        their precision: half as many bits take half the time.
    doubt : float
        The weight of the prior for each class.
    max_iter : int
        The most steps.
    tolerance : float
        A sample is done when a step would raise no probability by more than this share.

    Returns
    -------
    array of shape (n_samples, n_classes)
    """
    n_classes = places.shape[0]
    n, n_places = said.shape
    result = np.empty((n, n_classes), dtype=said.dtype)
    p = np.full((n_classes, _LANES), 1 / n_classes, dtype=said.dtype)
    first, second, gain = p.copy(), p.copy(), p.copy()
    heard = np.ones((n_places, _LANES), dtype=said.dtype)
    shares, total = heard.copy(), heard[0].copy()
    prior = np.full(_LANES, doubt, dtype=said.dtype)
    sample, steps = np.full(_LANES, -1), np.zeros(_LANES, dtype=np.int64)
    reach, gap = np.ones(_LANES), np.zeros(_LANES)
    following = 0
    left = n
    while True:
        _gains(places, p, heard, shares, gain, prior, total)
        for lane in range(_LANES):
            here = sample[lane]
            if here >= 0:
                before, gap[lane] = gap[lane], _gap(p, gain, lane)
                if steps[lane] < max_iter and gap[lane] > tolerance:
                    reach[lane] = _reach(
                        reach[lane], gap[lane] > before, 2 * steps[lane] > max_iter
                    )
                    continue
                _finish(p, gain, lane, result[here])
                left -= 1
            sample[lane] = -1
            if following < n:
                sample[lane], steps[lane] = following, -2
                total[lane] = said[following].sum() + doubt * n_classes
                reach[lane], gap[lane] = _LONGEST_LEAP, np.inf
                copy_to(heard[:, lane], said[following])
                following += 1
            # It begins with the second step of this round.
            p[:, lane] = 1 / n_classes
            gain[:, lane] = 1
        if not left:
            return result
        _step(p, gain, first)
        _gains(places, first, heard, shares, gain, prior, total)
        _step(first, gain, second)
        _leap(p, first, second, reach)
        steps += 2


@njit
def _reach(before: float, away: bool, late: bool) -> float:
    """How far a leap may go after one that led away from the optimum, or did not."""
    if late:
        return 1.0
    return max(before / 4, 1.0) if away else min(before * 2, _LONGEST_LEAP)


@njit
def _finish(p: Floats, gain: Floats, lane: int, result: Floats) -> None:
    """One step more, and the sample is done."""
    for c in range(len(p)):
        result[c] = max(p[c, lane] * gain[c, lane], _LEAST)
    result /= result.sum()


@njit
def _gains(  # noqa: PLR0917
    places: Ints,
    p: Floats,
    heard: Floats,
    shares: Floats,
    gain: Floats,
    prior: Floats,
    total: Floats,
) -> None:
    """What a step multiplies each probability by; at most 1 for all at an optimum."""
    n_classes, n_columns = places.shape
    shares[:] = _TINY
    for c in range(n_classes):
        for column in range(n_columns):
            place = places[c, column]
            for lane in range(_LANES):
                shares[place, lane] += p[c, lane]
    for place in range(len(shares)):
        for lane in range(_LANES):
            shares[place, lane] = heard[place, lane] / shares[place, lane]
    for c in range(n_classes):
        for lane in range(_LANES):
            gain[c, lane] = prior[lane] / p[c, lane]
        for column in range(n_columns):
            place = places[c, column]
            for lane in range(_LANES):
                gain[c, lane] += shares[place, lane]
        for lane in range(_LANES):
            gain[c, lane] /= total[lane]


@njit
def _gap(p: Floats, gain: Floats, lane: int) -> float:
    """By how much a probability wants to grow, or one that counts to shrink."""
    gap = 0.0
    for c in range(len(p)):
        more = gain[c, lane] - 1
        gap = max(gap, more, -more * p[c, lane])
    return gap


@njit
def _step(p: Floats, gain: Floats, after: Floats) -> None:
    whole = np.zeros(_LANES, dtype=p.dtype)
    for c in range(len(p)):
        for lane in range(_LANES):
            after[c, lane] = p[c, lane] * gain[c, lane]
            whole[lane] += after[c, lane]
    for c in range(len(p)):
        for lane in range(_LANES):
            after[c, lane] = max(after[c, lane] / whole[lane], _LEAST)


@njit
def _leap(p: Floats, first: Floats, second: Floats, reach: Floats) -> None:
    """Put p where the path of two steps leads if it goes on."""
    change = np.zeros(_LANES, dtype=p.dtype)
    bend, whole = change.copy(), change.copy()
    for c in range(len(p)):
        for lane in range(_LANES):
            once = first[c, lane] - p[c, lane]
            twice = second[c, lane] - first[c, lane] - once
            change[lane] += once * once / first[c, lane]
            bend[lane] += twice * twice / first[c, lane]
    for lane in range(_LANES):
        length = np.sqrt(change[lane] / max(bend[lane], _TINY))
        change[lane] = min(max(length, 1.0), reach[lane])
    for c in range(len(p)):
        for lane in range(_LANES):
            once = first[c, lane] - p[c, lane]
            twice = second[c, lane] - first[c, lane] - once
            length = change[lane]
            far = p[c, lane] + length * (2 * once + length * twice)
            p[c, lane] = max(far, second[c, lane] / 10)
            whole[lane] += p[c, lane]
    for c in range(len(p)):
        for lane in range(_LANES):
            p[c, lane] = max(p[c, lane] / whole[lane], _LEAST)
