import numpy as np
from sklearn.svm import SVC

from ecoc.codes import one_vs_rest
from ecoc.datasets import load_dataset
from ecoc.paper import measuring
from ecoc.paper.measuring import draw, paper_codebook


def test_paper_decoding_is_equations_1_and_2():
    rng = np.random.default_rng(0)
    matrix = rng.integers(-1, 2, size=(5, 7))
    scores = rng.normal(size=(30, 7))
    found = measuring.paper_decoding(scores, matrix)
    for sample, row in zip(scores, found, strict=True):
        labels = [1 if value > 0 else -1 for value in sample]
        for codeword, minus_distance in zip(matrix, row, strict=True):
            terms = [(1 - m * f) / 2 for m, f in zip(codeword, labels, strict=True)]
            assert minus_distance == -sum(terms)


def test_ties_go_to_the_first_class():
    samples = draw(load_dataset("toy"), 300, 300, 0)
    model = measuring.fit(SVC(), one_vs_rest(10), samples)
    found = measuring.accuracies(model, samples.X_test, samples.y_test)
    labels = np.where(model.column_scores(samples.X_test) > 0, 1, -1)
    tied = (labels == 1).sum(axis=1) != 1
    assert tied.any()
    chosen = np.argmax(labels, axis=1)  # the first +1; the first class where there is none
    assert found["accuracy"] == round(100 * float((chosen == samples.y_test).mean()), 3)
    assert found["accuracy"] < found["accuracy_ties"]


def test_automatic_decoding_is_that_of_the_classifier():
    samples = draw(load_dataset("toy"), 200, 200, 0)
    model = measuring.fit(SVC(), paper_codebook("sparse", 10, 20), samples)
    found = measuring.accuracies(model, samples.X_test, samples.y_test)
    assert found["accuracy_auto"] == 100 * model.score(samples.X_test, samples.y_test)
