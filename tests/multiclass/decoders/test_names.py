import numpy as np
import pytest

from ecoc.codes import (
    Codebook,
    balanced_random,
    digits,
    exhaustive,
    one_vs_one,
    one_vs_rest,
    sparse_random,
)
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.multiclass.decoders import (
    DECODERS,
    Coupling,
    Decoder,
    Hamming,
    LossBased,
    Soft,
    Votes,
    make_decoder,
)
from ecoc.multiclass.decoders.base import FunctionDecoder
from ecoc.multiclass.decoders.names import automatic_decoder

TERNARY = sparse_random(5, 10, random_state=0)
SYMBOLS = digits(9, n_symbols=3)


@pytest.mark.parametrize(
    ("code", "method", "expected"),
    [
        (one_vs_rest(4), "decision_function", LossBased("hinge")),
        (one_vs_rest(4), "predict_proba", LossBased("linear")),
        (one_vs_rest(4), "predict", Hamming()),
        (one_vs_one(4), "decision_function", Votes()),
        (one_vs_one(4), "predict_proba", Votes()),
        (one_vs_one(4), "predict", Hamming()),
        (TERNARY, "decision_function", LossBased("hinge", normalise=True)),
        (TERNARY, "predict_proba", LossBased("linear", normalise=True)),
        (one_vs_rest(2), "decision_function", LossBased("hinge")),
        (SYMBOLS, "predict_proba", Coupling(logistic=False)),
        (SYMBOLS, "predict", Hamming()),
    ],
)
def test_the_rule_for_auto(code, method, expected):
    assert automatic_decoder(code, method) == expected


def test_more_than_the_pairs_is_not_one_vs_one():
    code = Codebook(np.hstack([one_vs_one(4).matrix, [[1], [1], [-1], [-1]]]))
    assert automatic_decoder(code, "decision_function") == LossBased("hinge", normalise=True)


@pytest.mark.parametrize("name", DECODERS)
def test_every_name_gives_a_decoder_that_finds_clean_codewords(name):
    code = exhaustive(4)
    decoder = make_decoder(name, code, "decision_function")
    targets = np.arange(40) % 4
    scores = 3.0 * code.matrix[targets]
    fitted = decoder.fit(scores, targets, code.matrix)
    assert np.array_equal(fitted(scores, code.matrix).argmax(axis=1), targets)


def test_only_decision_values_are_turned_into_probabilities():
    code = exhaustive(4)
    assert make_decoder("soft", code, "decision_function") == Soft(logistic=True)
    assert make_decoder("soft", code, "predict_proba") == Soft(logistic=False)
    assert make_decoder("coupling", code, "predict_proba") == Coupling(logistic=False)


def test_decoders_and_functions_are_taken_as_they_are():
    assert make_decoder(Votes(), exhaustive(4), "predict") == Votes()
    assert isinstance(make_decoder(np.dot, exhaustive(4), "predict"), FunctionDecoder)
    with pytest.raises(InvalidInputError, match="Did you mean 'hamming'"):
        make_decoder("haming", exhaustive(4), "predict")


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("method", ["predict_proba", "predict"])
def test_every_name_decodes_symbols(name, method):
    code = balanced_random(5, 8, n_symbols=3, random_state=0)
    decoder = make_decoder(name, code, method)
    targets = np.arange(60) % 5
    scores = np.eye(3)[code.matrix[targets]]
    if method == "predict_proba":
        scores = 0.8 * scores + 0.2 / 3
    fitted = decoder.fit(scores, targets, code.matrix)
    assert np.array_equal(fitted(scores, code.matrix).argmax(axis=1), targets)


class Sums(Decoder):
    def class_scores(self, scores, matrix):
        return scores @ matrix.T


def test_decoders_of_sides_are_refused_by_name():
    assert isinstance(make_decoder(Sums(), exhaustive(4), "predict"), Sums)
    with pytest.raises(UnsupportedError, match=r"Sums decodes .* not one of 3 symbols"):
        make_decoder(Sums(), SYMBOLS, "predict_proba")
