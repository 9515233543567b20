"""Means and standard errors over repetitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

__all__ = ["proportion_error", "summarise"]


def summarise(
    repetitions: Sequence[Mapping[str, float]], *, test_share: float | None = None
) -> tuple[dict[str, float], dict[str, float]]:
    """The mean of every value over repetitions, and its standard error.

    Parameters
    ----------
    repetitions : sequence of mappings
        The same names in each.
    test_share : float, optional
        For random splits of one data set: the samples that are tested divided by those that
        are trained on. Training sets that overlap make errors look too small; this is the
        correction of Nadeau & Bengio (2003).

    Examples
    --------
    >>> summarise([{"a": 1.0}, {"a": 3.0}])
    ({'a': 2.0}, {'a': 1.0})
    >>> summarise([{"a": 1.0}, {"a": 3.0}], test_share=1.5)
    ({'a': 2.0}, {'a': 2.0})
    """
    n = len(repetitions)
    means, errors = {}, {}
    for name in repetitions[0]:
        values = np.array([repetition[name] for repetition in repetitions])
        means[name] = round(float(values.mean()), 3)
        if n > 1:
            variance = float(values.var(ddof=1)) * (1 / n + (test_share or 0.0))
            errors[name] = round(math.sqrt(variance), 3)
    return means, errors


def proportion_error(percent: float, n: int) -> float:
    """The standard error of a percentage of `n` independent samples.

    It is half the width of Wilson's interval for one standard deviation, which does not
    shrink to nothing where all samples, or none, are counted.

    Examples
    --------
    >>> proportion_error(50, 100), proportion_error(0, 100)
    (4.975, 0.495)
    """
    share = percent / 100
    return round(100 * math.sqrt(share * (1 - share) / n + 1 / (4 * n * n)) / (1 + 1 / n), 3)
