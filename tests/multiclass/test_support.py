import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ecoc.multiclass.support import distinct_vectors

ROWS = hnp.arrays(
    np.float64, st.tuples(st.integers(0, 6), st.just(3)), elements=st.sampled_from([0.0, 1, 2, 4])
)


def rows_of(matrix):
    return [tuple(row) for row in (matrix.toarray() if sp.issparse(matrix) else matrix)]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("merge", [True, False])
@given(groups=st.lists(ROWS, min_size=1, max_size=4))
def test_every_row_is_found_again(kind, merge, groups):
    vectors, places = distinct_vectors([kind(group) for group in groups], merge=merge)
    found = rows_of(vectors)
    for group, where in zip(groups, places, strict=True):
        assert [found[place] for place in where] == rows_of(group)
    if merge:
        assert len(found) == len({row for group in groups for row in rows_of(group)})
    else:
        assert len(found) == sum(len(group) for group in groups)


def test_rows_with_the_same_key_are_kept_apart(monkeypatch):
    monkeypatch.setattr("ecoc.multiclass.support._dense_keys", lambda rows: rows[:, 0])
    vectors, places = distinct_vectors([np.array([[1.0, 2.0]]), np.array([[1.0, 3.0]])])
    assert vectors[places[1]].tolist() == [[1.0, 3.0]]
