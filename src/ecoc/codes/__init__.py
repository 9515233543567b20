"""Codebooks, their measures, the standard codes, and their files."""

from ecoc.codes.codebook import Codebook, Provenance
from ecoc.codes.columns import Dichotomies, columns_to_matrix, matrix_to_columns
from ecoc.codes.files import CodebookFile, read_codebook, read_file, write_codebook, write_file
from ecoc.codes.measures import FIGURE_TITLES, ColumnBalance, key_figures
from ecoc.codes.standard import (
    STANDARD_CODES,
    balanced_random,
    dense_random,
    digits,
    exhaustive,
    make_code,
    one_vs_one,
    one_vs_rest,
    sparse_random,
)
from ecoc.codes.validation import check_two_symbols

__all__ = [
    "FIGURE_TITLES",
    "STANDARD_CODES",
    "Codebook",
    "CodebookFile",
    "ColumnBalance",
    "Dichotomies",
    "Provenance",
    "balanced_random",
    "check_two_symbols",
    "columns_to_matrix",
    "dense_random",
    "digits",
    "exhaustive",
    "key_figures",
    "make_code",
    "matrix_to_columns",
    "one_vs_one",
    "one_vs_rest",
    "read_codebook",
    "read_file",
    "sparse_random",
    "write_codebook",
    "write_file",
]
