"""What a codebook is, by loops."""


def is_codebook(matrix):
    """The definition, by loops."""
    k, length = matrix.shape
    columns = [tuple(c) for c in matrix.T.tolist()]
    sides = all(1 in c and -1 in c for c in columns)
    separated = all(
        any(matrix[i, s] * matrix[j, s] == -1 for s in range(length))
        for i in range(k)
        for j in range(i)
    )
    negated = [tuple(-x for x in c) for c in columns]
    repeats = any(columns[i] in (columns[j], negated[j]) for i in range(length) for j in range(i))
    return sides and separated and not repeats
