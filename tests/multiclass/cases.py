# ruff: noqa: N806  # X is what scikit-learn calls it
"""Hypothesis strategies and small data sets for the tests of this room."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.strategies import codebooks


@st.composite
def decodings(draw, max_samples=5, codes=None):
    """A codebook and finite scores of its columns."""
    code = draw(codebooks(5, 8) if codes is None else codes)
    shape = (draw(st.integers(1, max_samples)), code.n_columns)
    values = st.floats(-8, 8, width=16).filter(lambda value: abs(value) > 1e-3) | st.just(0.0)
    return code, draw(hnp.arrays(np.float64, shape, elements=values))


def blobs(n_classes=5, n_features=4, per_class=30, spread=0.5, seed=0):
    """Gaussian clouds around random centres."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(scale=3, size=(n_classes, n_features))
    y = np.repeat(np.arange(n_classes), per_class)
    order = generator.permutation(len(y))
    X = centres[y] + generator.normal(scale=spread, size=(len(y), n_features))
    return X[order], y[order]
