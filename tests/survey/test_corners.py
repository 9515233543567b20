import numpy as np

from ecoc.atlas import expand_recipe
from ecoc.codes import Codebook
from ecoc.constructions.symbols import has_different_columns, least_distance
from ecoc.survey.corners import KnownCodes, corner_codes

PLANE = np.array([[x, y, (x + y) % 3, (x + 2 * y) % 3] for x in range(3) for y in range(3)])


def cells_of(rows, lengths, distance, bound):
    return {(k, n): (distance, bound(n)) for k in rows for n in lengths}


def test_what_follows_from_a_code_is_taken_where_it_is_better():
    """Rows are dropped, columns are dropped, and codes stand side by side, as bounds allow."""
    cells = cells_of(range(5, 10), range(2, 9), 1, lambda n: n - 1 if n < 5 else 6)
    cells[7, 3] = (2, 2)
    codes = KnownCodes(3, cells, lambda k, n: PLANE[:k, :n])
    codes.learn(PLANE, "plane")
    assert {codes.distances[k, 4] for k in range(5, 10)} == {3}
    assert {codes.distances[k, 3] for k in range(5, 10)} == {2}
    assert {codes.distances[k, 8] for k in range(5, 10)} == {6}
    assert (7, 3) not in codes.changed
    for k, n in [(9, 4), (6, 4), (8, 3), (9, 8), (5, 7)]:
        matrix = codes.matrix(k, n)
        assert matrix.shape == (k, n)
        assert least_distance(matrix) >= codes.distances[k, n]
        assert has_different_columns(matrix)
    assert codes.matrix(20, 4) is None


def test_surveyed_codes_have_the_figures_that_are_said_and_come_once():
    cells = cells_of(range(5, 10), range(2, 9), 1, lambda n: n)
    codes = KnownCodes(3, cells, lambda k, n: PLANE[:k, :n])
    codes.learn(PLANE, "plane")
    served = {}
    for code in codes.surveyed():
        symbols = expand_recipe(code.recipe, 3)
        for figure in code.figures:
            codebook = Codebook(symbols[: figure.n_classes].astype(int), n_symbols=3)
            assert codebook.n_columns == code.n_columns
            assert codebook.min_row_distance == figure.distance
            served[figure.n_classes, code.n_columns] = figure.distance
    assert served[9, 4] == served[5, 4] == 3
    assert served[9, 8] == 6
    assert codes.surveyed() == []


def test_rows_that_are_left_stay_even():
    cells = {(k, 4): (1, 3) for k in range(3, 10)}
    codes = KnownCodes(3, cells, lambda k, n: None)
    # The first rows of this order would all have one symbol in the first column.
    codes.learn(PLANE, "plane")
    (code,) = codes.surveyed()
    assert [figure.imbalance for figure in code.figures if figure.n_classes == 8] == [1]
    assert max(figure.imbalance for figure in code.figures) <= 2


def test_what_follows_from_the_atlas_alone_needs_no_search():
    cells = {(9, 4): (3, 3), (8, 4): (2, 3), (8, 3): (1, 2)}
    codes = KnownCodes(3, cells, lambda k, n: PLANE[:k, :n])
    first = next(iter(corner_codes(codes, 3, 9)))
    assert {(f.n_classes, c.n_columns, f.distance) for c in first for f in c.figures} == {
        (8, 4, 3),
        (8, 3, 2),
    }
