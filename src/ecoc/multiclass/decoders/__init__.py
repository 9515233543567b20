"""Decoders: from the scores of columns to the scores of classes."""

from ecoc.multiclass.decoders.base import Decoder
from ecoc.multiclass.decoders.distances import (
    LOSSES,
    AttenuatedEuclidean,
    Euclidean,
    Hamming,
    InverseHamming,
    LossBased,
    LossWeighted,
    Votes,
    hamming_margin,
)
from ecoc.multiclass.decoders.healing import SelfHealing
from ecoc.multiclass.decoders.learned import Learned
from ecoc.multiclass.decoders.names import DECODERS, make_decoder
from ecoc.multiclass.decoders.probabilities import Coupling, LogLikelihood, Soft

__all__ = [
    "DECODERS",
    "LOSSES",
    "AttenuatedEuclidean",
    "Coupling",
    "Decoder",
    "Euclidean",
    "Hamming",
    "InverseHamming",
    "Learned",
    "LogLikelihood",
    "LossBased",
    "LossWeighted",
    "SelfHealing",
    "Soft",
    "Votes",
    "hamming_margin",
    "make_decoder",
]
