# ruff: noqa: N806  # X is what scikit-learn calls it
"""Hypothesis strategies and small data sets for the tests of this room."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.strategies import codebooks, symbol_codebooks


@st.composite
def decodings(draw, max_samples=5, codes=None):
    """A codebook and finite scores of its columns."""
    code = draw(codebooks(5, 8) if codes is None else codes)
    shape = (draw(st.integers(1, max_samples)), code.n_columns)
    values = st.floats(-8, 8, width=16).filter(lambda value: abs(value) > 1e-3) | st.just(0.0)
    return code, draw(hnp.arrays(np.float64, shape, elements=values))


@st.composite
def symbol_decodings(draw, max_samples=5, codes=None):
    """A codebook of symbols and probabilities of its columns' symbols."""
    code = draw(symbol_codebooks(5, 3) if codes is None else codes)
    shape = (draw(st.integers(1, max_samples)), code.n_columns, code.n_symbols)
    # Whole numbers: ties and zeros are as frequent as with single trees.
    counts = draw(hnp.arrays(np.int64, shape, elements=st.integers(0, 4)))
    counts[..., 0] += counts.sum(axis=2) == 0
    return code, counts / counts.sum(axis=2, keepdims=True)


@st.composite
def seen(draw):
    """Scores with erasures, a codebook matrix and targets."""
    code, scores = draw(decodings(max_samples=12))
    rows = st.integers(0, code.n_classes - 1)
    targets = draw(st.lists(rows, min_size=len(scores), max_size=len(scores)))
    holes = draw(st.lists(st.booleans(), min_size=scores.size, max_size=scores.size))
    scores[np.reshape(holes, scores.shape)] = np.nan
    return scores, code.matrix, np.array(targets)


def wrongs(scores, matrix, targets, column):
    """Whether a column is wrong, sample by sample; None where it does not count."""
    found = []
    for row, target in zip(scores[:, column], targets, strict=True):
        side = matrix[target, column]
        found.append(None if side == 0 or np.isnan(row) else bool(np.sign(row) != side))
    return found


def share(part):
    """The mean; NaN of nothing."""
    return np.mean(part) if len(part) else np.nan


def blobs(n_classes=5, n_features=4, per_class=30, spread=0.5, seed=0):
    """Gaussian clouds around random centres."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(scale=3, size=(n_classes, n_features))
    y = np.repeat(np.arange(n_classes), per_class)
    order = generator.permutation(len(y))
    X = centres[y] + generator.normal(scale=spread, size=(len(y), n_features))
    return X[order], y[order]
