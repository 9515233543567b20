"""All decoders, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ecoc._checks import check_choice
from ecoc.errors import UnsupportedError
from ecoc.multiclass.decoders.base import Decoder, FunctionDecoder
from ecoc.multiclass.decoders.distances import (
    LOSSES,
    AttenuatedEuclidean,
    Euclidean,
    Hamming,
    InverseHamming,
    LossBased,
    LossWeighted,
    Votes,
)
from ecoc.multiclass.decoders.healing import SelfHealing
from ecoc.multiclass.decoders.learned import Learned
from ecoc.multiclass.decoders.probabilities import Coupling, LogLikelihood, Soft

if TYPE_CHECKING:
    from ecoc.codes import Codebook
    from ecoc.multiclass.columns import ScoreMethod

__all__ = [
    "DECODERS",
    "automatic_decoder",
    "decoder_name",
    "decodes_symbols",
    "is_one_vs_one",
    "make_decoder",
]

_BY_NAME: dict[str, Decoder] = {
    "hamming": Hamming(),
    "votes": Votes(),
    "euclidean": Euclidean(),
    "attenuated-euclidean": AttenuatedEuclidean(),
    "inverse-hamming": InverseHamming(),
    "loss-weighted": LossWeighted(),
    "learned": Learned(),
    "self-healing": SelfHealing(),
    **{loss: LossBased(loss) for loss in LOSSES},
    **{f"normalised-{loss}": LossBased(loss, normalise=True) for loss in LOSSES},
}

_OF_PROBABILITIES: dict[str, Callable[..., Decoder]] = {
    "soft": Soft,
    "log-likelihood": LogLikelihood,
    "coupling": Coupling,
}

DECODERS = ("auto", *_OF_PROBABILITIES, *_BY_NAME)
"""The names that a decoder can be asked for by."""


def decoder_name(decoder: Decoder) -> str:
    """The name that a decoder can be asked for by; its settings where it has others.

    Examples
    --------
    >>> decoder_name(LossBased("hinge", normalise=True)), decoder_name(LossBased("hinge"))
    ('normalised-hinge', 'hinge')
    """
    for name, known in _BY_NAME.items():
        # What a decoder has learned is no setting.
        if type(decoder) is type(known) and (decoder.needs != "nothing" or decoder == known):
            return name
    named = (name for name, kind in _OF_PROBABILITIES.items() if kind is type(decoder))
    return next(named, repr(decoder))


def make_decoder(decoding: object, codebook: Codebook, method: ScoreMethod) -> Decoder:
    """Find the decoder that is meant.

    Parameters
    ----------
    decoding : str, Decoder or callable
        A name of :data:`DECODERS`, a decoder, or a function for :class:`FunctionDecoder`.
    codebook : Codebook
        The codebook it is for.
    method : {"decision_function", "predict_proba", "predict"}
        Where the column scores come from.

    Examples
    --------
    >>> from ecoc.codes import one_vs_one
    >>> make_decoder("auto", one_vs_one(4), "decision_function")
    Votes()
    """
    decoder = _meant(decoding, codebook, method)
    if codebook.n_symbols > 2 and not decoder.takes_symbols:
        raise UnsupportedError(
            f"{type(decoder).__name__} decodes codebooks of two symbols, +1 and -1, not one of "
            f"{codebook.n_symbols} symbols; it needs a method symbol_scores for that."
        )
    return decoder


def _meant(decoding: object, codebook: Codebook, method: ScoreMethod) -> Decoder:
    if isinstance(decoding, Decoder):
        return decoding
    if not isinstance(decoding, str) and callable(decoding):
        return FunctionDecoder(decoding)
    name = check_choice("decoding", decoding, DECODERS)
    if name == "auto":
        return automatic_decoder(codebook, method)
    if name in _OF_PROBABILITIES:
        # Only decision values have still to be turned into probabilities.
        return _OF_PROBABILITIES[name](logistic=method == "decision_function")
    return _BY_NAME[name]


def decodes_symbols(decoding: object) -> bool:
    """Whether what is meant decodes codebooks of more than two symbols.

    A function of one's own is taken to be for scores of two sides.

    Examples
    --------
    >>> decodes_symbols("auto"), decodes_symbols(lambda scores, matrix: scores @ matrix.T)
    (True, False)
    """
    if isinstance(decoding, Decoder):
        return decoding.takes_symbols and not isinstance(decoding, FunctionDecoder)
    return isinstance(decoding, str)


def automatic_decoder(codebook: Codebook, method: ScoreMethod) -> Decoder:
    """The decoder that suits a codebook and the scores that a learner offers.

    Hamming decoding where there are labels alone; votes with confidence for one-vs-one; the
    mean over the columns that a class uses for other ternary codes; the hinge loss of
    decision values, or the sum of probabilities, for codes of +1 and -1; and the coupling of
    probabilities for codes of more symbols.

    Examples
    --------
    >>> from ecoc.codes import one_vs_rest
    >>> automatic_decoder(one_vs_rest(4), "decision_function")
    LossBased(loss='hinge', normalise=False)
    """
    if method == "predict":
        return Hamming()
    if codebook.n_symbols > 2:
        return Coupling(logistic=False)
    if is_one_vs_one(codebook):
        return Votes()
    loss = "hinge" if method == "decision_function" else "linear"
    return LossBased(loss, normalise=not codebook.is_binary)


def is_one_vs_one(codebook: Codebook) -> bool:
    """Whether every column has one class against one other, and every pair has a column."""
    if codebook.n_symbols > 2:
        return False
    used = np.abs(codebook.matrix)
    pairs = codebook.n_classes * (codebook.n_classes - 1) // 2
    return bool((used.sum(axis=0) == 2).all()) and codebook.n_columns == pairs > 1
