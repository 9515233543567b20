import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.multiclass.cases import decodings

from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders import (
    AttenuatedEuclidean,
    Coupling,
    Euclidean,
    FunctionDecoder,
    Hamming,
    InverseHamming,
    LossBased,
    Soft,
    Votes,
)
from ecoc.multiclass.decoders import base as module

DECODERS = [
    Hamming(),
    Votes(),
    Euclidean(),
    AttenuatedEuclidean(),
    InverseHamming(),
    LossBased("hinge"),
    LossBased("exponential", normalise=True),
    Soft(),
]


@pytest.mark.parametrize("decoder", DECODERS, ids=repr)
@given(case=decodings(), data=st.data())
def test_erasures_are_columns_that_are_not_there(decoder, case, data):
    code, scores = case
    erased = data.draw(hnp.arrays(bool, scores.shape))
    erased[:, 0] = False
    found = decoder(np.where(erased, np.nan, scores), code.matrix)
    for i, row in enumerate(scores):
        kept = ~erased[i]
        alone = decoder(row[None, kept], code.matrix[:, kept])[0]
        assert found[i] == pytest.approx(alone, rel=1e-9, abs=1e-9)


@given(case=decodings())
def test_missing_columns_are_erased_for_every_sample(case):
    code, scores = case
    missing = [code.n_columns - 1] if code.n_columns > 1 else []
    erased = scores.copy()
    erased[:, missing] = np.nan
    expected = LossBased()(erased, code.matrix)
    assert np.array_equal(LossBased()(scores, code.matrix, missing_columns=missing), expected)


def test_coupling_does_without_erased_columns():
    matrix = np.array([[1, 1, 1, 1], [1, -1, -1, -1], [-1, 1, -1, 1]])
    scores = np.array([[0.5, np.nan, -1.0, 0.2], [0.5, -0.3, -1.0, np.nan]])
    found = Coupling()(scores, matrix)
    for i, kept in enumerate([[0, 2, 3], [0, 1, 2]]):
        alone = Coupling()(scores[[i]][:, kept], matrix[:, kept])[0]
        assert found[i] == pytest.approx(alone, abs=1e-6)


def test_large_batches_are_decoded_in_parts(monkeypatch):
    generator = np.random.default_rng(0)
    matrix = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])
    scores = generator.normal(size=(25, 3))
    whole = Hamming()(scores, matrix)
    monkeypatch.setattr(module, "CHUNK", 7)
    assert np.array_equal(Hamming()(scores, matrix), whole)


def test_a_sample_without_any_column_is_named():
    with pytest.raises(InvalidInputError, match="samples 1 have none"):
        Hamming()([[1.0, 1.0], [np.nan, np.nan]], [[1, 1], [-1, 1]])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1.0]], "same columns"),
        ([1.0, 2.0], "same columns"),
        ([[1.0, np.inf]], "finite"),
    ],
)
def test_scores_must_fit_the_codebook(scores, message):
    with pytest.raises(InvalidInputError, match=message):
        Hamming()(scores, [[1, 1], [-1, 1]])


@pytest.mark.parametrize("missing", [[2], [-1], ["a"], [0, 1]])
def test_missing_columns_must_exist_and_leave_some(missing):
    with pytest.raises(InvalidInputError, match="missing_columns"):
        Hamming()([[1.0, 1.0]], [[1, 1], [-1, 1]], missing_columns=missing)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda scores, matrix: scores, "shape"),
        (lambda scores, matrix: scores @ matrix.T * np.nan, "NaN"),
    ],
)
def test_what_a_function_returns_is_checked(function, message):
    with pytest.raises(InvalidInputError, match=message):
        FunctionDecoder(function)([[1.0, 1.0, 1.0]], [[1, 1, -1], [-1, 1, 1]])
