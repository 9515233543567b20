"""Fitted classifiers that grow: more columns for the same classes, codewords for new classes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, counted, listing
from ecoc._typing import Floats
from ecoc.codes import Codebook
from ecoc.design import design_codebook, extend_codebook
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.multiclass.choosing import Choice

__all__ = [
    "check_extendable",
    "check_new_classes",
    "check_prefix",
    "codewords_by_answers",
    "least_sure_columns",
    "with_columns",
]


def with_columns(codebook: Codebook, n_columns: int | None, *, seed: int | None) -> Choice:
    """The codebook of a fitted model with more columns behind those it has.

    Parameters
    ----------
    codebook : Codebook
        What the model was fitted with; these columns stay the first ones.
    n_columns : int, optional
        How many columns there shall be.
    seed : int, optional
        The seed of the search for new columns.

    Examples
    --------
    >>> from ecoc.codes import dense_random
    >>> code = dense_random(6, 8, random_state=0)
    >>> choice = with_columns(code, 10, seed=0)
    >>> choice.codebook.n_columns, bool((choice.codebook.matrix[:, :8] == code.matrix).all())
    (10, True)
    """
    before = codebook.n_columns
    wanted = before if n_columns is None else check_int("n_columns", n_columns, minimum=1)
    if wanted < before:
        raise InvalidInputError(
            f"n_columns must be at least {before}, the columns that are fitted, with "
            f"warm_start=True, not {wanted}. To do without some, predict with missing_columns."
        )
    if wanted == before:
        warnings.warn(
            "warm_start=True trains only new columns, and n_columns is not larger than before: "
            "nothing was trained.",
            UserWarning,
            stacklevel=4,
        )
        return Choice(codebook, "the columns that were fitted")
    if codebook.n_symbols == 2 and not codebook.is_binary:
        raise UnsupportedError(
            "Columns cannot be added to a codebook that leaves classes out of columns. Give a "
            "codebook whose first columns are those that are fitted."
        )
    design = design_codebook(
        codebook.n_classes,
        wanted,
        n_symbols=codebook.n_symbols,
        nested=True,
        warm_start=codebook,
        random_state=seed,
    )
    grown = codebook if design.codebook is None else design.codebook.relabel(codebook.labels)
    reason = f"the {counted(before, 'column')} that were fitted, and more; {design.verdict}"
    if grown.n_columns == wanted:
        return Choice(grown, reason)
    note = f"n_columns is {wanted}, but only {counted(grown.n_columns, 'column')} could be had"
    return Choice(grown, f"{reason}; {note}", length_note=note)


def check_prefix(codebook: Codebook, fitted: Codebook) -> None:
    """Refuse a codebook whose first columns are not those of a fitted model."""
    n_columns = fitted.n_columns
    if codebook.n_columns >= n_columns and np.array_equal(
        codebook.matrix[:, :n_columns], fitted.matrix
    ):
        return
    raise InvalidInputError(
        f"With warm_start=True the first {counted(n_columns, 'column')} of the codebook must be "
        "those that are fitted. Set warm_start=False to train all columns again."
    )


def check_new_classes(
    known: npt.NDArray[Any], labels: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The new labels, sorted, and all of them together, in the order of their sorted labels."""
    new = np.setdiff1d(labels, known)
    if not len(new):
        raise InvalidInputError(
            f"y must have a class that the model does not know; it knows {listing(known.tolist())}."
        )
    if (new.dtype.kind in "OUS") != (known.dtype.kind in "OUS"):
        raise InvalidInputError(
            f"New classes must be labels of the same kind as those the model knows, "
            f"{known[0]!r}, not {new[0]!r}."
        )
    return new, np.unique(np.concatenate([known, new]))


def check_extendable(codebook: Codebook) -> None:
    """Refuse a codebook whose columns have more than two sides, or leave classes out."""
    if not codebook.is_binary:
        raise UnsupportedError(
            "Classes are added to models whose codebook has two symbols and leaves no class out of "
            "a column. Fit again with the codebook of ecoc.extend_codebook."
        )


def least_sure_columns(answers: Floats, n_columns: int) -> list[int]:
    """The columns whose answers on new classes say least, in order.

    Parameters
    ----------
    answers : array of shape (n_new_classes, n_columns)
        The mean answer of each column on the samples of each new class, from -1 to 1.
    n_columns : int
        How many columns.

    Examples
    --------
    >>> least_sure_columns(np.array([[1.0, 0.1, -0.9, -0.2], [-1.0, 0.3, 0.8, 0.0]]), 2)
    [1, 3]
    """
    sure = np.abs(answers).mean(axis=0)
    return sorted(np.argsort(sure, kind="stable")[:n_columns].tolist())


def codewords_by_answers(
    codebook: Codebook,
    answers: Floats,
    retrained: Sequence[int],
    *,
    seed: int | None,
) -> Codebook:
    """The codebook with rows for new classes that agree with what trained columns answer.

    Parameters
    ----------
    codebook : Codebook
        The codebook of the model, of two symbols and without zeros.
    answers : array of shape (n_new_classes, n_columns)
        The mean answer of each column on the samples of each new class, from -1 to 1.
    retrained : sequence of int
        Columns that are trained again, and are to be on the side that suits the code best.
    seed : int, optional
        The seed.

    Examples
    --------
    >>> from ecoc.codes import dense_random
    >>> code = dense_random(4, 6, random_state=0)
    >>> answers = np.array([[1, 0.9, -0.8, 1, -1, -0.1]])
    >>> codewords_by_answers(code, answers, (), seed=0).rows[-1]
    '++-+--'
    """
    wishes = np.array(answers, dtype=np.float64)
    new = len(wishes)
    labels = None if codebook.labels is None else [f"new class {i}" for i in range(new)]
    if len(retrained) == codebook.n_columns:
        return extend_codebook(codebook, new, labels=labels, random_state=seed).codebook
    # Others say something, however little: a wish of exactly 0 is for columns that are taught.
    wishes[wishes == 0] = 1e-9
    wishes[:, list(retrained)] = 0
    return extend_codebook(codebook, new, labels=labels, wishes=wishes, random_state=seed).codebook
