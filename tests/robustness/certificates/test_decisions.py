import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.multiclass.cases import decodings

from ecoc.errors import UnsupportedError
from ecoc.multiclass.decoders import Euclidean, Hamming, LossBased, LossWeighted, Soft, Votes
from ecoc.robustness.certificates.bounds import ColumnBounds
from ecoc.robustness.certificates.decisions import (
    all_bits_hold,
    flips_absorbed,
    pairs_stand,
    rule_of,
    worst_leads,
)
from ecoc.robustness.certificates.linear import LinearBounds
from ecoc.robustness.threat import Interval, Region

LINEAR = LossBased("linear", normalise=True)


class Free(ColumnBounds):
    """Columns of which some may take either side and the others stay."""

    safety = 0.0

    def __init__(self, scores, loose):
        self.scores = scores
        self.loose = loose

    def bounds(self, epsilon):
        wide = np.where(self.loose, np.abs(self.scores) + 1, 0)
        return Interval(self.scores - wide, self.scores + wide)


def outcomes(scores, loose):
    """All signs that the columns of one sample can have."""
    options = [[-1.0, 0.0, 1.0] if free else [s] for s, free in zip(scores, loose, strict=True)]
    return np.array(list(itertools.product(*options)))


@given(case=decodings(max_samples=1), data=st.data())
def test_hamming_certificates_against_all_flips(case, data):
    code, scores = case
    places = st.lists(st.booleans(), min_size=code.n_columns, max_size=code.n_columns)
    loose = np.array(data.draw(places))
    if loose.sum() > 6:
        loose[np.flatnonzero(loose)[6:]] = False
    matrix = code.matrix.astype(float)
    predicted = Hamming()(scores, matrix).argmax(axis=1)
    columns = Free(scores, loose)
    reachable = outcomes(scores[0], loose)
    distances = -np.sign(reachable) @ matrix.T
    own = distances[:, predicted[0]].copy()
    distances[:, predicted[0]] = np.inf
    stands = bool((own < distances.min(axis=1)).all())
    by_pairs = bool(pairs_stand(columns, 0.1, rule_of(Hamming()), matrix, predicted)[0])
    by_count = bool(flips_absorbed(scores, columns.bounds(0.1), matrix, predicted)[0])
    assert by_pairs == stands, "the bound by pairs is exact for free columns"
    assert stands or not by_count, "counting is sound"
    bits = bool(all_bits_hold(columns.bounds(0.1), matrix, predicted)[0])
    used = matrix[predicted[0]] != 0
    right = (matrix[predicted[0]] * reachable > 0)[:, used].all()
    alike = [(row * matrix[predicted[0]] >= 0).all() for row in matrix]
    assert bits == bool(right and sum(alike) == 1)


def test_counting_allows_half_the_distance():
    code = np.array([[1] * 7, [-1] * 7])
    scores = np.ones((1, 7))
    for flips in range(8):
        wide = np.where(np.arange(7) < flips, 2.0, 0.5)
        bounds = Interval(scores - wide, scores + wide)
        assert flips_absorbed(scores, bounds, code, [0])[0] == (flips <= 3)


def test_columns_that_do_not_separate_the_pair_do_not_count():
    code = np.array([[1, 1, 1, 1, 1], [1, 1, -1, -1, -1]])
    scores = np.ones((1, 5))
    columns = Free(scores, np.array([True, True, True, False, False]))
    assert pairs_stand(columns, 0.1, rule_of(Hamming()), code, [0])[0]
    assert not flips_absorbed(scores, columns.bounds(0.1), code, [0])[0]


def test_a_tie_is_lost():
    code = np.array([[1, 1], [1, -1], [-1, 1]])
    for decoder in (Soft(), Hamming(), LINEAR):
        columns = Free(np.array([[1.0, 0.0]]), np.zeros(2, dtype=bool))
        assert not pairs_stand(columns, 0.1, rule_of(decoder), code, [0])[0]
        assert not pairs_stand(columns, 0.1, rule_of(decoder), code, [1])[0]


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_joint_bounds_are_exact_for_linear_columns(norm):
    generator = np.random.default_rng(0)
    matrix = np.array([[1, 1, 0, 1], [1, -1, 1, -1], [-1, 0, -1, 1]])
    weights, bias = generator.normal(size=(4, 3)), generator.normal(size=4)
    points = generator.random((20, 3))
    columns = LinearBounds(weights, bias, points, Region(norm, None))
    rule = rule_of(LINEAR)
    predicted = rule.predict(columns.scores, matrix)
    found = worst_leads(columns, 0.1, rule, matrix, predicted)
    signed = matrix / np.abs(matrix).sum(axis=1, keepdims=True)
    for i, row in enumerate(predicted):
        forms = np.delete((signed[row] - signed) @ weights / 2, row, axis=0)
        lead = np.delete((signed[row] - signed) @ columns.scores[i] / 2, row)
        worst = lead - 0.1 * np.linalg.norm(forms, ord=1 if norm == "linf" else 2, axis=1)
        assert found[i] == pytest.approx(worst.min(), abs=1e-7)


DECODERS = [
    Soft(),
    LINEAR,
    Soft(normalise=False),
    LossBased("hinge"),
    LossBased("hinge", normalise=True),
    LossBased("logistic"),
    LossBased("exponential", normalise=True),
]


@pytest.mark.parametrize("decoder", DECODERS, ids=str)
@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_no_point_of_the_region_has_less_than_the_worst_lead(decoder, norm):
    generator = np.random.default_rng(0)
    matrix = np.array([[1, 1, 0, 1, 1], [1, -1, 1, -1, 0], [-1, 0, -1, 1, 1], [-1, 1, 1, -1, 1]])
    weights, bias = generator.normal(size=(5, 4)), generator.normal(size=5)
    points, epsilon, rule = generator.random((12, 4)), 0.15, rule_of(decoder)
    columns = LinearBounds(weights, bias, points, Region(norm, None))
    predicted = rule.predict(columns.scores, matrix)
    found = worst_leads(columns, epsilon, rule, matrix, predicted)
    columns.joint = False
    apart = worst_leads(columns, epsilon, rule, matrix, predicted)
    assert (found >= apart).all()
    assert (found > apart + 1e-3).any()
    change = generator.normal(size=(4000, 4))
    change = np.sign(change) if norm == "linf" else change / np.linalg.norm(change, axis=1)[:, None]
    for i, row in enumerate(predicted):
        scores = (points[i] + epsilon * change) @ weights.T + bias
        given = rule.decoder(scores, matrix)
        lead = given[:, row] - np.delete(given, row, axis=1).max(axis=1)
        assert lead.min() >= found[i]
        if decoder == LINEAR:
            assert lead.min() == pytest.approx(found[i], abs=0.02)


RULES = {
    "soft": rule_of(Soft()),
    "hamming": rule_of(Hamming()),
    "votes": rule_of(Votes()),
    "sums": rule_of(Soft(normalise=False)),
    "shares": rule_of(Soft(logistic=False)),
    "euclidean": rule_of(Euclidean()),
    **{
        f"{loss}-{normalise}": rule_of(LossBased(loss, normalise=normalise))
        for loss in ("hinge", "logistic", "binary-deviance", "exponential", "linear")
        for normalise in (False, True)
    },
}


def lead(rule, scores, matrix, row):
    """The lead of a class by the decoder itself, without its tie-break."""
    found = rule.decoder(scores, matrix)
    if isinstance(rule.decoder, Hamming):
        found = np.round(2 * found) / 2
    if isinstance(rule.decoder, Votes):
        used = np.abs(matrix).sum(axis=1)
        found = np.round(2 * used * found) / (2 * used)
    if isinstance(rule.decoder, Euclidean):
        found = -(found**2) / 4  # the squares are what is linear
    return found[:, [row]] - found


@pytest.mark.parametrize("name", RULES)
@given(case=decodings())
def test_without_uncertainty_a_lead_is_the_decoders(name, case):
    code, scores = case
    rule, matrix = RULES[name], code.matrix.astype(float)
    for row in range(code.n_classes):
        found = rule.worst_leads(Interval(scores, scores), matrix, row)
        expected = lead(rule, scores, matrix, row)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
        assert found[:, row] == pytest.approx(0)


@pytest.mark.parametrize("name", RULES)
@given(case=decodings(max_samples=2))
@settings(max_examples=15)
def test_the_worst_lead_is_reached_and_never_undercut(name, case):
    code, scores = case
    rule, matrix = RULES[name], code.matrix.astype(float)
    width = np.abs(np.sin(np.arange(scores.size))).reshape(scores.shape) * 2
    low, high = scores[:1] - width[:1], scores[:1] + width[:1]
    # Every corner of the intervals, and points between.
    corners = np.array(np.meshgrid(*zip(low[0], high[0], strict=True))).reshape(low.shape[1], -1).T
    inside = low + (high - low) * np.random.default_rng(0).random((200, low.shape[1]))
    for row in range(code.n_classes):
        worst = rule.worst_leads(Interval(low, high), matrix, row)[0]
        reached = lead(rule, corners, matrix, row).min(axis=0)
        assert worst == pytest.approx(reached, rel=1e-6, abs=1e-6)
        assert (lead(rule, inside, matrix, row) >= worst - 1e-6 * (1 + np.abs(worst))).all()


@pytest.mark.parametrize("name", RULES)
@given(case=decodings(max_samples=2))
@settings(max_examples=15)
def test_leads_never_change_slower_than_they_say(name, case):
    code, scores = case
    rule, matrix = RULES[name], code.matrix.astype(float)
    low, high = scores[:1] - 0.7, scores[:1] + 1.3
    inside = np.sort(low + 2 * np.random.default_rng(0).random((2, 50, low.shape[1])), axis=0)
    for row in range(code.n_classes):
        slopes = rule.least_slopes(Interval(low, high), matrix, row)[0]
        for column in range(code.n_columns):
            # Two scores that differ in one column alone.
            first, second = np.repeat(low, 50, axis=0), np.repeat(low, 50, axis=0)
            first[:, column], second[:, column] = inside[:, :, column]
            change = lead(rule, second, matrix, row) - lead(rule, first, matrix, row)
            least = (inside[1, :, column] - inside[0, :, column])[:, None] * slopes[:, column]
            size = 1e-6 * (1 + np.abs(lead(rule, first, matrix, row)))
            assert (np.abs(change) >= np.abs(least) - size).all()
            assert (change * least >= -size).all()


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.is_linear])
@given(case=decodings())
def test_linear_leads_are_the_same_leads(name, case):
    code, scores = case
    rule, matrix = RULES[name], code.matrix.astype(float)
    for row in range(code.n_classes):
        forms, constants = rule.linear_leads(matrix, row)
        expected = rule.worst_leads(Interval(scores, scores), matrix, row)
        assert scores @ forms.T + constants == pytest.approx(expected, abs=1e-9)


def test_decoders_without_a_certificate_are_refused():
    for decoder in (LossBased("squared"), LossWeighted()):
        with pytest.raises(UnsupportedError, match="no certificate for decoding by"):
            rule_of(decoder)
