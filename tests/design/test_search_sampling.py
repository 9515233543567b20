import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecoc.design import DesignProblem
from ecoc.design.search import sample_codebook


@given(
    st.integers(2, 12),
    st.integers(1, 20),
    st.sampled_from(["two-sided", "one-sided", "literal"]),
    st.sampled_from([None, 0.0, 0.1, 0.5]),
    st.integers(0, 100),
)
def test_what_is_drawn_satisfies_the_problem(k, length, separation, imbalance, seed):
    sizes = np.random.default_rng(seed).integers(1, 50, size=k)
    problem = DesignProblem(
        k, length, separation=separation, max_imbalance=imbalance, class_sizes=sizes.tolist()
    )
    code = sample_codebook(problem, random_state=seed)
    assert code is None or not problem.violations(code)
    if imbalance == 0.5 and separation == "two-sided" and k >= 4 and length >= 2 * k:
        assert code is not None


def test_few_columns_tell_all_rows_apart():
    problem = DesignProblem(64, 6)
    code = sample_codebook(problem)
    assert (code.n_classes, code.n_columns, code.min_row_distance) == (64, 6, 1)


def test_one_seed_gives_one_codebook():
    problem = DesignProblem(30, 20, max_imbalance=0.1, class_sizes=range(10, 40))
    assert sample_codebook(problem, random_state=5) == sample_codebook(problem, random_state=5)
