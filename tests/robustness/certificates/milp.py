"""The exact least value of a tiny ReLU network over a box, by a mixed-integer program."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp


def least_output(weights, biases, low, high, form):
    """Minimise form @ network(x) for low <= x <= high with HiGHS.

    The variables are, for each layer, its inputs; for each ReLU its input, output and a
    binary variable that says whether it is on.
    """
    n_inputs = len(low)
    lower, upper = [*low], [*high]
    integral = [0] * n_inputs
    rows = []  # (coefficients by variable, least, largest)
    current = list(range(n_inputs))
    interval = np.array(low), np.array(high)
    for layer, (matrix, bias) in enumerate(zip(weights, biases, strict=True)):
        positive, negative = np.maximum(matrix, 0), np.minimum(matrix, 0)
        below = positive @ interval[0] + negative @ interval[1] + bias
        above = positive @ interval[1] + negative @ interval[0] + bias
        before = list(range(len(lower), len(lower) + len(bias)))
        lower += list(below)
        upper += list(above)
        integral += [0] * len(bias)
        for i, place in enumerate(before):
            terms = {place: 1.0}
            for j, source in enumerate(current):
                terms[source] = terms.get(source, 0.0) - matrix[i, j]
            rows.append((terms, bias[i], bias[i]))
        if layer == len(weights) - 1:
            current = before
            break
        after = list(range(len(lower), len(lower) + len(bias)))
        lower += [0.0] * len(bias)
        upper += list(np.maximum(above, 0))
        integral += [0] * len(bias)
        switch = list(range(len(lower), len(lower) + len(bias)))
        lower += [0.0] * len(bias)
        upper += [1.0] * len(bias)
        integral += [1] * len(bias)
        for i in range(len(bias)):
            least, largest = min(below[i], 0), max(above[i], 0)
            z, y, on = before[i], after[i], switch[i]
            rows.append(({y: 1.0, z: -1.0}, 0, np.inf))
            rows.append(({y: 1.0, z: -1.0, on: -least}, -np.inf, -least))
            rows.append(({y: 1.0, on: -largest}, -np.inf, 0))
        current, interval = after, (np.maximum(below, 0), np.maximum(above, 0))
    cost = np.zeros(len(lower))
    cost[current] = form
    matrix = sp.lil_matrix((len(rows), len(lower)))
    for i, (terms, _, _) in enumerate(rows):
        for place, value in terms.items():
            matrix[i, place] = value
    limits = LinearConstraint(matrix.tocsr(), [r[1] for r in rows], [r[2] for r in rows])
    found = milp(
        cost,
        constraints=limits,
        bounds=Bounds(lower, upper),
        integrality=integral,
        options={"mip_rel_gap": 0.0},
    )
    assert found.status == 0, found.message
    return found.fun
