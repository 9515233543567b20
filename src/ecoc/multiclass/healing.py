"""A decoder that finds out from a batch which columns have failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ecoc._checks import check_int
from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoder import Decoder, Floats

__all__ = ["SelfHealing"]


@dataclass(frozen=True)
class SelfHealing(Decoder):
    """Decode a batch, see which columns disagree with it, weigh them anew, and repeat.

    A column that has failed (flipped, stuck, random) disagrees with the classes on which
    the other columns agree. Its weight becomes the log-odds of its agreement, so that a
    flipped column is turned round and a random one is ignored.

    It is transductive: the decision for a sample depends on the samples that are decoded
    with it, so decode many together, hundreds or more. For +1/-1 codes only; on one-vs-one
    it does harm.

    Parameters
    ----------
    max_iter : int, default=20
        The most rounds; it ends earlier when no decision changes.

    Examples
    --------
    >>> from ecoc.codes import exhaustive
    >>> matrix = exhaustive(5).matrix
    >>> truth = np.arange(50) % 5
    >>> scores = matrix[truth].astype(float)
    >>> scores[:, :4] *= -1  # four of the fifteen columns have failed
    >>> bool((SelfHealing()(scores, matrix).argmax(axis=1) == truth).all())
    True
    """

    max_iter: int = 20

    whole_batch: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_int("max_iter", self.max_iter, minimum=1)

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Weighted sums of the scores, cut off at -1 and +1."""
        if not matrix.all():
            raise InvalidInputError(
                "Self-healing needs a codebook of +1 and -1 only; this one has zeros. "
                "Use decoding='auto' for it."
            )
        # Beyond the margin a column that is wrong must not shout down those that are right.
        bounded = np.clip(scores, -1, 1)
        result: Floats = bounded @ matrix.T
        decided = result.argmax(axis=1)
        for _ in range(self.max_iter):
            right = (np.sign(bounded) * matrix[decided] > 0).sum(axis=0)
            # Half a sample on each side keeps the odds finite.
            weights = np.log((right + 0.5) / (len(scores) - right + 0.5))
            result = (bounded * weights) @ matrix.T
            previous, decided = decided, result.argmax(axis=1)
            if np.array_equal(previous, decided):
                break
        return result
