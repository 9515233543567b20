"""Hypothesis strategies that the tests share."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ecoc.codes import Codebook, Provenance, digits
from ecoc.codes.columns import Dichotomies, columns_to_matrix
from ecoc.errors import InvalidCodebookError

labels = st.text(
    st.characters(exclude_categories=["Cc", "Cs"]),
    min_size=1,
    max_size=12,
)

plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner),
    max_leaves=6,
)

provenances = st.builds(
    Provenance,
    st.text("abc-", min_size=1, max_size=10),
    st.dictionaries(st.text("abc", max_size=3), plain_values, max_size=3),
    seed=st.none() | st.integers(0, 2**64),
)


@st.composite
def matrices(draw, max_classes=8, max_columns=10):
    """Any matrix of -1, 0 and +1, codebook or not."""
    shape = draw(st.tuples(st.integers(2, max_classes), st.integers(1, max_columns)))
    return draw(hnp.arrays(np.int8, shape, elements=st.integers(-1, 1)))


@st.composite
def binary_codebooks(draw, max_classes=7, max_columns=12):
    """Valid +1/-1 codebooks, from distinct columns with random sides."""
    k = draw(st.integers(2, max_classes))
    every = len(Dichotomies(k))
    columns = draw(
        st.lists(st.integers(1, every), min_size=1, max_size=min(every, max_columns), unique=True)
    )
    # The columns 1, 2, 4, ... separate class 0 from each other class, and so all of them.
    columns = list(dict.fromkeys([*columns, *(1 << i for i in range(k - 1))]))
    signs = draw(hnp.arrays(np.int8, len(columns), elements=st.sampled_from([-1, 1])))
    return Codebook(columns_to_matrix(columns, k) * signs)


@st.composite
def codebooks(draw, max_classes=7, max_columns=12):
    """Valid codebooks, binary or ternary, with or without labels, name and provenance."""
    code = draw(binary_codebooks(max_classes, max_columns))
    matrix = code.matrix
    if draw(st.booleans()):
        mask = draw(hnp.arrays(np.int8, matrix.shape, elements=st.integers(0, 1)))
        try:
            matrix = Codebook(matrix * mask).matrix
        except InvalidCodebookError:
            matrix = code.matrix
    k = matrix.shape[0]
    return Codebook(
        matrix,
        labels=draw(st.none() | st.lists(labels, min_size=k, max_size=k, unique=True)),
        name=draw(st.none() | st.text("abc xyz", min_size=1, max_size=10)),
        provenance=draw(st.none() | provenances),
    )


@st.composite
def symbol_codebooks(draw, max_classes=7, max_columns=5):
    """Valid codebooks of more than two symbols, with or without labels, name and provenance."""
    k = draw(st.integers(3, max_classes))
    q = draw(st.integers(3, k))
    length = draw(st.integers(1, max_columns))
    matrix = draw(hnp.arrays(np.int8, (k, length), elements=st.integers(0, q - 1)))
    # The digits of the classes tell them apart, whatever the columns that were drawn.
    matrix = np.hstack([matrix, digits(k, n_symbols=q).matrix])
    names = [dict.fromkeys(column) for column in matrix.T.tolist()]
    splits = [
        tuple(list(name).index(entry) for entry in column)
        for name, column in zip(names, matrix.T.tolist(), strict=True)
    ]
    kept = [j for j, split in enumerate(splits) if any(split) and split not in splits[:j]]
    return Codebook(
        matrix[:, kept],
        n_symbols=q,
        labels=draw(st.none() | st.lists(labels, min_size=k, max_size=k, unique=True)),
        name=draw(st.none() | st.text("abc xyz", min_size=1, max_size=10)),
        provenance=draw(st.none() | provenances),
    )


def any_codebooks():
    """Valid codebooks of two symbols or more."""
    return codebooks() | symbol_codebooks()
