"""Codebooks, their measures, the standard codes, and their files."""

from ecoc.codes.codebook import Codebook, Provenance
from ecoc.codes.files import read_codebook, write_codebook
from ecoc.codes.measures import ColumnBalance
from ecoc.codes.standard import (
    STANDARD_CODES,
    balanced_random,
    dense_random,
    digits,
    exhaustive,
    make_code,
    one_vs_one,
    one_vs_rest,
    ordinal,
    sparse_random,
    ternary_complete,
)

__all__ = [
    "STANDARD_CODES",
    "Codebook",
    "ColumnBalance",
    "Provenance",
    "balanced_random",
    "dense_random",
    "digits",
    "exhaustive",
    "make_code",
    "one_vs_one",
    "one_vs_rest",
    "ordinal",
    "read_codebook",
    "sparse_random",
    "ternary_complete",
    "write_codebook",
]
