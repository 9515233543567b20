"""Whether a codebook is better than what the atlas has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ecoc.atlas.cells import Atlas, AtlasCell, packaged_atlas
from ecoc.codes import Codebook
from ecoc.errors import InvalidInputError, VerificationError

__all__ = ["Submission", "compare_with_atlas"]


@dataclass(frozen=True)
class Submission:
    """A codebook beside the cell of the atlas that it may replace.

    Attributes
    ----------
    cell : AtlasCell
        What the atlas has.
    distance, separation : int
        The least distances of rows and of columns of the codebook, counted.
    """

    cell: AtlasCell
    distance: int
    separation: int

    @property
    def verdict(self) -> Literal["better", "better separated", "equal", "worse"]:
        """What the atlas would say; separation counts where distances are equal."""
        if self.distance != self.cell.distance:
            return "better" if self.distance > self.cell.distance else "worse"
        if self.separation != self.cell.separation:
            return "better separated" if self.separation > self.cell.separation else "worse"
        return "equal"

    def __str__(self) -> str:
        cell = self.cell
        head = {
            "better": "Better than the atlas",
            "better separated": "As far apart as in the atlas, with better separated columns",
            "equal": "As good as the atlas",
            "worse": "Not as good as the atlas",
        }[self.verdict]
        return (
            f"{head}: row distance {self.distance} (atlas {cell.distance}, at most {cell.bound} "
            f"possible), columns {self.separation} apart (atlas {cell.separation})."
        )


def compare_with_atlas(codebook: Codebook, *, atlas: Atlas | None = None) -> Submission:
    """Count the distances of a codebook, and compare them with those in the atlas.

    Parameters
    ----------
    codebook : Codebook
        Binary or of more symbols, with different columns.
    atlas : Atlas, optional
        The atlas; the one that comes with the package by default.

    Raises
    ------
    InvalidInputError
        If the atlas has no cell for it: of its size, or because it has zeros or repeats columns.
    VerificationError
        If its distance is above the proved bound, so that one of the two is wrong.

    Examples
    --------
    >>> from ecoc.codes import dense_random
    >>> print(compare_with_atlas(dense_random(10, 20, random_state=0)))
    Not as good as the atlas: row distance 8 (atlas 10, at most 10 possible), columns ...
    """
    atlas = packaged_atlas() if atlas is None else atlas
    if codebook.n_symbols == 2 and not codebook.is_binary:
        raise InvalidInputError("The atlas has no codebooks with zeros; give one without.")
    if codebook.allow_repeated_columns and codebook.min_column_distance() == 0:
        raise InvalidInputError("The codebook repeats columns; those of the atlas differ.")
    cell = atlas.get(codebook.n_classes, codebook.n_columns, codebook.n_symbols)
    separation = codebook.min_column_distance()
    submission = Submission(cell, _least_distance(codebook), int(separation or 0))
    if submission.distance > cell.bound:
        wrong = (
            f"the row distance {submission.distance} of the codebook is above the bound "
            f"{cell.bound} ({cell.ground}); please report it"
        )
        raise VerificationError("the atlas", [wrong])
    return submission


def _least_distance(codebook: Codebook) -> int:
    """Compare every two rows, entry by entry."""
    rows = np.ascontiguousarray(codebook.matrix)
    return min(
        int(np.count_nonzero(rows[p + 1 :] != rows[p], axis=1).min()) for p in range(len(rows) - 1)
    )
