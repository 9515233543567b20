from itertools import combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.multiclass.cases import decodings
from tests.strategies import binary_codebooks, codebooks

from ecoc.codes import exhaustive
from ecoc.multiclass import Hamming, hamming_margin


def brute_force(signs, matrix, row):
    """Change the answers of ever more columns until the predicted class no longer leads."""
    present = [column for column in range(len(signs)) if not np.isnan(signs[column])]

    def leads(answers):
        distances = [
            sum((1 - m[c] * answers[c]) / 2 for c in present) for m in matrix.astype(float)
        ]
        return all(distances[row] < d for i, d in enumerate(distances) if i != row)

    for size in range(len(present) + 1):
        for changed in combinations(present, size):
            for answers in product((-1.0, 1.0), repeat=size):
                other = signs.copy()
                other[list(changed)] = answers
                if not leads(other):
                    return max(size - 1, 0)
    raise AssertionError("two rows of a codebook differ in some column")


@given(case=decodings(max_samples=2, codes=codebooks(4, 5)), data=st.data())
def test_margins_against_every_change_of_answers(case, data):
    code, scores = case
    if data.draw(st.booleans()):
        scores[:, -1] = np.nan
    rows = (
        Hamming()(scores, code.matrix).argmax(axis=1)
        if code.n_columns > 1
        else np.zeros(len(scores), dtype=int)
    )
    if np.isnan(scores).all():
        return
    kept = ~np.isnan(scores[0])
    if len(np.unique(code.matrix[:, kept], axis=0)) < code.n_classes:
        return
    found = hamming_margin(scores, code.matrix, rows)
    for margin, sample, row in zip(found, np.sign(scores), rows, strict=True):
        assert margin == brute_force(sample, code.matrix, row)


@given(binary_codebooks())
def test_a_clean_codeword_has_the_margin_of_the_code_or_more(code):
    margins = hamming_margin(code.matrix, code.matrix, np.arange(code.n_classes))
    assert margins.min() == code.correctable_errors


def test_each_wrong_column_costs_one():
    code = exhaustive(5)
    scores = code.matrix[[0]].repeat(4, axis=0).astype(float)
    for i in range(4):
        scores[i, :i] *= -1
    assert hamming_margin(scores, code.matrix, [0] * 4).tolist() == [3, 2, 1, 0]


def test_no_margin_for_a_class_that_does_not_lead():
    assert hamming_margin([[1, 1, 1]], [[1, 1, 1], [-1, -1, -1]], [1]).tolist() == [0]
