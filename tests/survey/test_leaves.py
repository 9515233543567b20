import numpy as np
import pytest

from ecoc.atlas import expand_recipe
from ecoc.constructions import hadamard_matrix, hadamard_methods
from ecoc.constructions.patchwork import BlockKind
from ecoc.survey.leaves import as_symbols, describe_hadamard, describe_words, make_block


@pytest.mark.parametrize("order", [2, 4, 12, 20, 28, 36, 92, 172])
def test_recipes_of_hadamard_matrices_expand_to_them(order):
    for method in hadamard_methods(order):
        recipes = dict(describe_hadamard(order, method))
        recipe = recipes[f"{method}-{order}"]
        matrix = as_symbols(hadamard_matrix(order, method=method))
        assert (expand_recipe(recipe, matrices=recipes) == matrix).all()
        if method in {"paley-1", "paley-2", "goethals-seidel"}:
            assert "words" not in str(recipe)


@pytest.mark.parametrize(
    "kind",
    [
        BlockKind("B", 12, 6, 12),
        BlockKind("A", 11, 6, 12),
        BlockKind("C", 22, 12, 24),
        BlockKind("L", 22, 12, 11),
        BlockKind("S", 9, 4, 9),
    ],
)
def test_blocks_have_their_words_and_distance(kind):
    rng = np.random.default_rng(0)
    block = make_block(kind, 11, rng)
    matrix = expand_recipe(block.recipe, matrices=dict(block.uses))
    assert (matrix[block.places] == as_symbols(block.rows)).all()
    rows = block.rows[:, :]
    apart = (rows[:, None] != rows).sum(axis=2) + kind.n_columns * np.eye(len(rows), dtype=int)
    assert rows.shape[1] == kind.n_columns
    assert apart.min() >= kind.distance
    cut = block.without(3)
    matrix = expand_recipe(cut.recipe, matrices=dict(cut.uses))
    assert (matrix[cut.places] == as_symbols(cut.rows)).all()


def test_rows_of_a_linear_code_are_written_by_its_generators():
    rng = np.random.default_rng(0)
    generators = rng.integers(0, 2, (6, 200))
    rows = (rng.integers(0, 2, (50, 6)) @ generators % 2).astype(np.uint8)
    recipe = describe_words(rows)
    assert recipe[0] == "rows"
    assert (expand_recipe(recipe) == rows).all()
    rows = rng.integers(0, 2, (50, 200)).astype(np.uint8)
    assert describe_words(rows)[0] == "words"
