from itertools import combinations

import numpy as np

from ecoc.constructions.blocks import separation_of


def test_separation_by_brute_force():
    rng = np.random.default_rng(0)
    for _ in range(50):
        matrix = rng.choice(np.array([-1, 1], dtype=np.int8), size=(6, 4))
        found = [min((a != b).sum(), (a == b).sum()) for a, b in combinations(matrix.T, 2)]
        constant = (np.abs(matrix.sum(axis=0)) == 6).any()
        assert separation_of(matrix) == (0 if constant else min(found))
