import numpy as np
import pytest

from ecoc.codes import one_vs_one
from ecoc.errors import UnsupportedError
from ecoc.multiclass.decoders import (
    LOSSES,
    AttenuatedEuclidean,
    Coupling,
    Euclidean,
    Hamming,
    InverseHamming,
    Learned,
    LogLikelihood,
    LossBased,
    LossWeighted,
    SelfHealing,
    Soft,
    Votes,
)
from ecoc.multiclass.decoders.probabilities import _PRIOR, coupling_loss, smoothed
from ecoc.multiclass.onnx import Answers, OperatorGraph, decoded

ort = pytest.importorskip("onnxruntime")

N, K = 40, 6
RNG = np.random.default_rng(0)
CODES = {
    "binary": np.where(RNG.random((K, 9)) < 0.5, -1, 1).astype(np.int8),
    "one-vs-one": one_vs_one(K).matrix,
    "ternary": RNG.integers(-1, 2, size=(K, 12)).astype(np.int8),
    # The first column lacks a symbol.
    "symbols": np.concatenate([np.arange(K)[:, None] % 3, RNG.integers(4, size=(K, 7))], axis=1),
}
TARGETS = RNG.integers(K, size=N)


def scores_for(name):
    matrix, generator = CODES[name], np.random.default_rng(1)
    if name == "symbols":
        scores = generator.dirichlet(np.ones(4), size=(N, matrix.shape[1]))
        scores[:10] = scores[:10] == scores[:10].max(axis=2, keepdims=True)
        return scores
    scores = generator.uniform(-1, 1, size=(N, matrix.shape[1]))
    # Certain columns, and some that stand on neither side.
    scores[:10] = np.sign(scores[:10])
    scores[0, :4] = 0
    return scores


def decoders_for(name):
    scores, matrix = scores_for(name), CODES[name]
    either = () if name == "symbols" else (True, False)
    return [
        *(Hamming(), Votes(), Euclidean(), AttenuatedEuclidean()),
        *(Soft(False), Soft(False, normalise=False), LogLikelihood(False)),
        *(LogLikelihood(logistic) for logistic in either),
        *(Soft(logistic) for logistic in either),
        *(LossBased(loss, normalise) for loss in LOSSES for normalise in (False, True)),
        LossWeighted("squared").fit(scores, TARGETS, matrix),
        # Of the first class no column ever was right.
        LossWeighted(weights=np.concatenate([np.zeros((1, matrix.shape[1])), np.abs(matrix[1:])])),
        Learned(penalty=0.1).fit(scores, TARGETS, matrix),
    ]


def session(name, decoders, *, mask):
    """All decoders side by side in one graph."""
    matrix, graph = CODES[name], OperatorGraph()
    scores = graph.input("scores", np.float64, ["n", *scores_for(name).shape[1:]])
    present = None
    if mask:
        size = matrix.shape[1]
        default = np.zeros((1, size), dtype=bool)
        missing = graph.input("missing", bool, ["m", size], default=default)
        present = 1.0 - missing.cast(np.float64)
    answers = Answers(scores, matrix, 4 if name == "symbols" else 2, present)
    outputs = {
        f"decoder {number}": (decoded(decoder, answers), np.float64, ["n", K])
        for number, decoder in enumerate(decoders)
    }
    options = ort.SessionOptions()
    options.log_severity_level = 3
    return ort.InferenceSession(graph.model(outputs).SerializeToString(), options)


@pytest.mark.parametrize("name", CODES)
def test_operators_give_what_decoders_give(name):
    scores, matrix, decoders = scores_for(name), CODES[name], decoders_for(name)
    results = session(name, decoders, mask=False).run(None, {"scores": scores})
    for decoder, result in zip(decoders, results, strict=True):
        np.testing.assert_allclose(result, decoder(scores, matrix), atol=1e-12, err_msg=decoder)


@pytest.mark.parametrize("name", CODES)
def test_columns_that_are_missing_count_as_erased(name):
    scores, matrix, decoders = scores_for(name), CODES[name], decoders_for(name)
    there = session(name, decoders, mask=True)
    for_all = np.zeros((1, matrix.shape[1]), dtype=bool)
    for_all[0, [1, 3]] = True
    for_some = np.random.default_rng(2).random(matrix.shape[1] * N).reshape(N, -1) < 0.2
    for missing in (None, for_all, for_some):
        feeds = {"scores": scores} | ({} if missing is None else {"missing": missing})
        erased = scores.copy()
        if missing is not None:
            erased[np.broadcast_to(missing, for_some.shape)] = np.nan
        for decoder, result in zip(decoders, there.run(None, feeds), strict=True):
            np.testing.assert_allclose(result, decoder(erased, matrix), atol=1e-12, err_msg=decoder)


@pytest.mark.parametrize("name", CODES)
def test_coupling_is_as_likely_as_that_of_the_decoder(name):
    # Steps amplify rounding wherever the likelihood is flat, so that single probabilities may
    # differ by more than what they are optimised to.
    scores, matrix, decoder = scores_for(name), CODES[name], Coupling(logistic=False)
    kept = [column for column in range(matrix.shape[1]) if column not in {1, 3}]
    missing = np.ones((1, matrix.shape[1]), dtype=bool)
    missing[0, kept] = False
    there = session(name, [decoder], mask=True)
    for columns, feeds in (
        (list(range(matrix.shape[1])), {"scores": scores}),
        (kept, {"scores": scores, "missing": missing}),
    ):
        (result,) = there.run(None, feeds)
        given, code = scores[:, columns], matrix[:, columns]
        truth = decoder(given, code)
        said = smoothed(given) if name == "symbols" else (given + 1) / 2
        assert result.sum(axis=1) == pytest.approx(1)
        # Symbols are coupled in single precision, and in ONNX in double.
        assert np.median(np.abs(result - truth)) < (1e-6 if name == "symbols" else 1e-9)
        prior = _PRIOR if name == "symbols" else 0.0
        difference = coupling_loss(result, said, code, prior=prior)
        difference -= coupling_loss(truth, said, code, prior=prior)
        assert np.abs(difference).max() < 1e-3


def test_what_has_no_operators_is_named_with_what_has():
    graph = OperatorGraph()
    answers = Answers(graph.input("scores", np.float64, ["n", 9]), CODES["binary"])
    for decoder in (InverseHamming(), SelfHealing()):
        with pytest.raises(UnsupportedError, match=f"{type(decoder).__name__} .* Hamming, Votes"):
            decoded(decoder, answers)
