import numpy as np
import pytest
from hypothesis import given, settings
from tests.multiclass.cases import decodings

from ecoc.errors import InvalidInputError
from ecoc.multiclass import Euclidean, Hamming, LossBased, LossWeighted, Soft, Votes
from ecoc.robustness.certificates.rules import rule_of
from ecoc.robustness.threat import Interval

RULES = {
    "soft": rule_of("soft"),
    "logits": rule_of("logits"),
    "hamming": rule_of("hamming"),
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
@settings(max_examples=25)
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
@settings(max_examples=20)
def test_linear_leads_are_the_same_leads(name, case):
    code, scores = case
    rule, matrix = RULES[name], code.matrix.astype(float)
    for row in range(code.n_classes):
        forms, constants = rule.linear_leads(matrix, row)
        expected = rule.worst_leads(Interval(scores, scores), matrix, row)
        assert scores @ forms.T + constants == pytest.approx(expected, abs=1e-9)


def test_decoders_without_a_certificate_are_refused():
    for decoder in (LossBased("squared"), LossWeighted()):
        with pytest.raises(InvalidInputError, match="no certificate for decoding by"):
            rule_of(decoder)
