"""scikit-learn's own checks; none is expected to fail."""

from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecoc.multiclass import ECOCClassifier

# The check of class weights restrains trees and gives SGD more rounds where they are tested by
# themselves: otherwise a tree fits every sample whatever it weighs, and SGD stops too early.
TREE = DecisionTreeClassifier(random_state=0, min_weight_fraction_leaf=0.02)
SGD = SGDClassifier(random_state=0, max_iter=200, tol=None)


@parametrize_with_checks(
    [
        ECOCClassifier(),
        ECOCClassifier(LogisticRegression(), codebook="one-vs-rest", probabilities="normalised"),
        ECOCClassifier(TREE),
        ECOCClassifier(SVC(), codebook="one-vs-one"),
        ECOCClassifier(LinearSVC(), decoding="hamming"),
        ECOCClassifier(SGD, codebook="optimal"),
        ECOCClassifier(GaussianNB()),
        ECOCClassifier(Ridge(), codebook="one-vs-rest", decoding="linear"),
        ECOCClassifier(TREE, n_symbols=3, random_state=0),
        ECOCClassifier(LinearSVC(), codebook="digits", n_symbols=3),
    ],
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
