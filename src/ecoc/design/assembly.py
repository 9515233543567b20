"""What the formulations share: the variables, the limit on columns, and the objective."""

from __future__ import annotations

import numpy as np

from ecoc.design.linear_program import LinearProgram, NameBlock, Names
from ecoc.design.objectives import deviation, max_min
from ecoc.design.request import Parts
from ecoc.design.rows import RowBlock, class_order, sparse_rows

__all__ = ["assemble"]


def assemble(parts: Parts, conflicts: list[RowBlock]) -> LinearProgram:
    """Put the program together: limit on columns, conflicts, objective, symmetry."""
    from scipy.sparse import csr_array, vstack

    options, n_candidates, n_choices = parts.options, parts.columns.size, parts.n_choices
    targets = options.targets
    goal = max_min(parts) if targets is None else deviation(parts, targets)
    n_variables = n_choices + goal.objective.size
    least = float(parts.n_columns) if options.exact_columns else -np.inf
    count = csr_array(np.ones((1, n_candidates)))
    blocks = [
        RowBlock(NameBlock("columns"), count, least, float(parts.n_columns)),
        *conflicts,
        *goal.rows,
    ]
    if options.symmetry_breaking:
        order = sparse_rows(class_order(parts.columns, parts.n_classes), n_candidates)
        names = NameBlock("order", range(1, parts.n_classes - 1))
        blocks.append(RowBlock(names, order, 0.0, np.inf))
    # Every block fills the variables from the left, so widening it costs nothing.
    wide = [
        csr_array((m.data, m.indices, m.indptr), shape=(m.shape[0], n_variables))
        for m in (block.matrix for block in blocks)
    ]
    limits = [block.limits() for block in blocks]
    lower = np.concatenate([np.zeros(n_choices), goal.lower])
    upper = np.concatenate([np.ones(n_choices), goal.upper])
    lower[parts.forced] = 1
    upper[parts.forbidden] = 0
    pairs = () if parts.pair_labels is None else (NameBlock("x", parts.pair_labels),)
    integral = np.full(goal.objective.size, goal.integral)
    return LinearProgram(
        sense="max" if targets is None else "min",
        objective=np.concatenate([np.zeros(n_choices), goal.objective]),
        matrix=vstack(wide, format="csr"),
        row_lower=np.concatenate([low for low, _ in limits]),
        row_upper=np.concatenate([high for _, high in limits]),
        lower=lower,
        upper=upper,
        integrality=np.concatenate([np.ones(n_choices, dtype=bool), integral]),
        variable_names=Names((NameBlock("x", parts.columns), *pairs, *goal.names)),
        row_names=Names(tuple(block.names for block in blocks)),
    )
