import numpy as np

from ecoc.atlas import expand_recipe
from ecoc.atlas.cells import codebook_digest
from ecoc.bounds import BoundProblem, best_bound
from ecoc.codes import Codebook
from ecoc.survey.lengths import codes_of_lengths, measure_rows, order_rows


def test_figures_of_first_rows_are_those_of_their_codebooks():
    matrix = (1 - 2 * np.random.default_rng(0).integers(0, 2, (14, 9))).astype(np.int8)
    figures = measure_rows(matrix, 6)
    assert [f.n_classes for f in figures] == list(range(figures[0].n_classes, 15))
    for figure in figures:
        codebook = Codebook(matrix[: figure.n_classes])
        assert figure.distance == codebook.min_row_distance
        assert figure.separation == codebook.min_column_distance()
        assert figure.imbalance == np.abs(codebook.matrix.sum(axis=0)).max()
        assert f"{figure.digest:016x}" == codebook_digest(codebook)


def test_rows_are_ordered_for_columns_that_stand_apart():
    matrix = (1 - 2 * np.random.default_rng(1).integers(0, 2, (60, 40))).astype(np.int8)
    order = order_rows(matrix, 20)
    assert sorted(order.tolist()) == list(range(60))

    def separation(rows):
        return Codebook(rows).min_column_distance()

    assert separation(matrix[order[:20]]) > separation(matrix[:20])


def test_codes_of_plotkins_range_meet_the_bound_by_their_recipes():
    codes = codes_of_lengths(21, 22, lambda _: (10, 14), 22)
    served = set()
    for code in codes:
        symbols = expand_recipe(code.recipe, matrices=dict(code.uses))
        for figure in code.figures:
            codebook = Codebook(1 - 2 * symbols[: figure.n_classes].astype(np.int8))
            assert codebook.min_row_distance == figure.distance
            bound = best_bound(BoundProblem(figure.n_classes, code.n_columns)).value
            assert figure.distance == bound
            served.add((figure.n_classes, code.n_columns))
    assert served == {(k, length) for k in range(10, 15) for length in (21, 22)}
