# ruff: noqa: N806  # X is what scikit-learn calls it
import pytest
from tests.nn.cases import LEARNING, TERNARY, digits

from ecoc.errors import InvalidInputError
from ecoc.nn import MulticlassTwin


@pytest.mark.parametrize("decoding", ["soft", "normalised-linear", "normalised-logistic"])
def test_the_twin_learns_through_every_form_that_has_gradients(decoding):
    X, y = digits()
    twin = MulticlassTwin(TERNARY, decoding=decoding, **LEARNING).fit(X, y)
    assert twin.score(X, y) > 0.8
    assert len(twin.networks_) == 3
    assert twin.predict_proba(X).argmax(axis=1) == pytest.approx(
        twin.decision_function(X).argmax(axis=1)
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"decoding": "hamming"}, "no gradient"), ({"training": "ibp"}, "not for the twin")],
)
def test_what_the_twin_cannot_do_is_refused(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        MulticlassTwin(TERNARY, **{**LEARNING, **parameters}).fit(*digits())
