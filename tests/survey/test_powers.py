import numpy as np

from ecoc.atlas import expand_recipe
from ecoc.codes import Codebook
from ecoc.survey.powers import power_codes


def test_all_words_of_linear_codes_have_the_figures_that_are_said():
    for code in power_codes(9, 18, 20):
        (figure,) = code.figures
        codebook = Codebook(1 - 2 * expand_recipe(code.recipe).astype(np.int8))
        assert codebook.n_classes == figure.n_classes == 512
        assert codebook.min_row_distance == figure.distance
        assert codebook.min_column_distance() == figure.separation == 256
        assert figure.imbalance == 0


def test_a_nonlinear_code_is_taken_where_it_is_better():
    (code,) = power_codes(8, 16, 16)
    assert code.figures[0].distance == 6
    assert code.recipe[0] == "words"
