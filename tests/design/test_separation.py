import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ecoc.codes import Dichotomies
from ecoc.design.separation import clique_separator
from ecoc.graphs import ConflictGraph


@given(st.integers(3, 7), st.data())
@settings(max_examples=40)
def test_every_violated_pair_gets_a_maximal_clique(k, data):
    rule = data.draw(st.sampled_from(["two-sided", "one-sided", "literal"]))
    graph = ConflictGraph(
        k,
        data.draw(st.integers(1, k)),
        rule,
        n_columns=k,
        columns=data.draw(st.sampled_from([None, Dichotomies(k, 0.5)])),
    )
    columns = graph.to_columns()
    chosen = data.draw(st.lists(st.sampled_from(columns.tolist()), max_size=5, unique=True))
    rows = clique_separator(graph)(np.array(chosen, dtype=np.int64))
    violated = {(a, b) for a in chosen for b in chosen if a < b and graph.conflicts(a, b)}
    covered = set()
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        clique = columns[rows.members[start:end]]
        pairs = graph.conflicts(clique[:, None], clique[None, :])
        assert (pairs | np.eye(clique.size, dtype=bool)).all()
        others = np.setdiff1d(columns, clique)
        assert not graph.conflicts(others[:, None], clique[None, :]).all(axis=1).any()
        covered |= {(a, b) for a, b in violated if {a, b} <= set(clique.tolist())}
    assert covered == violated
