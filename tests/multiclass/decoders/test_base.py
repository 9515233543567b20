import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.multiclass.cases import decodings, symbol_decodings
from tests.strategies import binary_codebooks

from ecoc.codes import digits
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.multiclass.decoders import (
    AttenuatedEuclidean,
    Coupling,
    Euclidean,
    Hamming,
    InverseHamming,
    LogLikelihood,
    LossBased,
    LossWeighted,
    Soft,
    Votes,
    hamming_margin,
)
from ecoc.multiclass.decoders import base as module
from ecoc.multiclass.decoders.base import FunctionDecoder

DECODERS = [
    Hamming(),
    Votes(),
    Euclidean(),
    AttenuatedEuclidean(),
    InverseHamming(),
    LossBased("hinge"),
    LossBased("exponential", normalise=True),
    Soft(),
    LogLikelihood(),
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


# ------------------------------------------------------- more than two symbols


OF_PROBABILITIES = [
    Hamming(),
    Votes(),
    InverseHamming(),
    LossWeighted(),
    LossBased("hinge"),
    LossBased("exponential", normalise=True),
    LossBased("logistic"),
    LossBased("squared"),
    Soft(logistic=False),
    Soft(logistic=False, normalise=False),
    LogLikelihood(logistic=False),
]


@pytest.mark.parametrize("decoder", OF_PROBABILITIES, ids=repr)
@given(case=decodings(codes=binary_codebooks(5, 8)))
def test_two_symbols_score_classes_as_two_sides_do(decoder, case):
    code, scores = case
    scores = np.tanh(np.where(scores == 0, 0.5, scores) / 8)
    targets = np.arange(len(scores)) % code.n_classes
    symbols = np.where(code.matrix > 0, 0, 1)
    probabilities = np.stack([(1 + scores) / 2, (1 - scores) / 2], axis=2)
    by_sides = decoder.fit(scores, targets, code.matrix)(scores, code.matrix)
    by_symbols = decoder.fit(probabilities, targets, symbols)(probabilities, symbols)
    if isinstance(decoder, Hamming | Votes):
        # Ties are broken by sums on another scale; distances and votes are whole numbers.
        scale = code.n_columns if isinstance(decoder, Votes) else 1
        by_sides, by_symbols = np.round(scale * by_sides), np.round(scale * by_symbols)
    assert by_symbols == pytest.approx(by_sides, abs=1e-9)
    rows = np.asarray(targets)
    assert np.array_equal(
        hamming_margin(probabilities, symbols, rows), hamming_margin(scores, code.matrix, rows)
    )


SYMBOL_DECODERS = [
    *(Hamming(), Votes(), Euclidean(), AttenuatedEuclidean(), InverseHamming(), Soft()),
    *(LossBased("hinge"), LossBased("exponential", normalise=True), LogLikelihood()),
    LossWeighted(weights=np.linspace(0, 1, 1000).reshape(5, 200)),
]


@pytest.mark.parametrize("decoder", SYMBOL_DECODERS, ids=lambda each: type(each).__name__)
@given(case=symbol_decodings(), data=st.data())
def test_erased_symbols_are_columns_that_are_not_there(decoder, case, data):
    code, scores = case
    if isinstance(decoder, LossWeighted):
        decoder = LossWeighted(weights=decoder.weights[: code.n_classes, : code.n_columns])
    erased = data.draw(hnp.arrays(bool, scores.shape))
    erased[:, 0] = False
    found = decoder(np.where(erased, np.nan, scores), code.matrix)
    for i, row in enumerate(scores):
        # One symbol without a probability is enough to lose the column.
        kept = ~erased[i].any(axis=1)
        less = decoder.restricted(np.flatnonzero(kept))
        alone = less(row[None, kept], code.matrix[:, kept])[0]
        assert found[i] == pytest.approx(alone, rel=1e-9, abs=1e-9)


def test_large_batches_of_symbols_are_decoded_in_parts(monkeypatch):
    matrix = digits(9, n_symbols=3).matrix
    scores = np.random.default_rng(0).dirichlet(np.ones(3), size=(25, 2))
    whole = LogLikelihood()(scores, matrix)
    monkeypatch.setattr(module, "CHUNK", 7)
    assert LogLikelihood()(scores, matrix) == pytest.approx(whole, rel=1e-12)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.full((1, 3, 3), 1 / 3), "same columns"),
        (np.full((1, 2, 2), 1 / 2), "symbols of the codebook, here 0 to 1; its matrix has .* 2"),
        ([[[1.5, -0.5, 0], [1, 0, 0]]], "negative"),
        ([[[np.inf, 0, 0], [1, 0, 0]]], "finite"),
    ],
)
def test_probabilities_of_symbols_must_fit_the_codebook(scores, message):
    with pytest.raises(InvalidInputError, match=message):
        Hamming()(scores, [[0, 1], [1, 2], [2, 0]])


class Sums(module.Decoder):
    def class_scores(self, scores, matrix):
        return scores @ matrix.T


def test_decoders_of_sides_alone_refuse_symbols():
    assert not Sums().takes_symbols
    with pytest.raises(UnsupportedError, match="Sums decodes codebooks of two symbols"):
        Sums()(np.full((1, 2, 3), 1 / 3), [[0, 1], [1, 2], [2, 0]])


def test_a_function_decodes_symbols():
    decoder = FunctionDecoder(lambda scores, matrix: scores[:, 0, matrix[:, 0].astype(int)])
    assert decoder.takes_symbols
    assert np.array_equal(decoder([[[0.2, 0.3, 0.5]]], [[2], [0], [1]]), [[0.5, 0.2, 0.3]])
