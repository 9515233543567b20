"""scikit-learn's own checks; none is expected to fail."""

from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecoc.multiclass import ECOCClassifier


def expected_failures(estimator):
    """A tree fits every sample whatever it weighs, and weights of 1000 only upset SGD.

    The check restrains trees of its own by a parameter that a learner inside does not get.
    """
    if isinstance(estimator.estimator, DecisionTreeClassifier | SGDClassifier):
        return {"check_class_weight_classifiers": "the learner inside does not heed weights"}
    return {}


@parametrize_with_checks(
    [
        ECOCClassifier(),
        ECOCClassifier(LogisticRegression(), codebook="one-vs-rest", probabilities="normalised"),
        ECOCClassifier(DecisionTreeClassifier(random_state=0)),
        ECOCClassifier(SVC(), codebook="one-vs-one"),
        ECOCClassifier(LinearSVC(), decoding="hamming"),
        ECOCClassifier(SGDClassifier(random_state=0), codebook="optimal"),
        ECOCClassifier(GaussianNB()),
        ECOCClassifier(Ridge(), codebook="one-vs-rest", decoding="linear"),
        ECOCClassifier(DecisionTreeClassifier(random_state=0), n_symbols=3, random_state=0),
        ECOCClassifier(LinearSVC(), codebook="digits", n_symbols=3),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
