"""
Designing with constraints
==========================

A codebook should have rows that are far apart, so that wrong columns do no harm. More can be
asked of it: columns that are not alike, because equal columns err together, and columns whose
two sides are of similar size. What does each wish cost?
"""

import matplotlib.pyplot as plt

from ecoc import design_codebook
from ecoc.errors import InfeasibleError

# %%
# Columns further apart
# ---------------------
# ``min_column_distance`` is the number of classes in which two columns must differ at least,
# up to exchanging their sides. With 10 classes, 3 costs next to nothing; 4 costs something as soon
# as columns are many, because there are not so many that differ so much.

lengths = [6, 8, 10, 12, 14, 16, 18, 20]
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for separation in (1, 3, 4):
    designs = [
        design_codebook(10, n_columns, min_column_distance=separation, random_state=0)
        for n_columns in lengths
    ]
    distances = [design.objective for design in designs]
    ax.plot(lengths, distances, "o-", label=f"columns at least {separation} apart", alpha=0.7)
    proved = sum(design.status.name == "OPTIMAL" for design in designs)
    print(f"separation {separation}: {proved} of {len(designs)} designs proved optimal")
ax.set(xlabel="columns", ylabel="least distance of two rows", title="10 classes")
ax.legend()

# %%
# What cannot be had is refused, with the reason and what would work:

try:
    design_codebook(6, 20, min_column_distance=3)
except InfeasibleError as error:
    print(error)

# %%
# Balanced columns
# ----------------
# ``max_imbalance`` is the largest difference of a column's two sides, as a share of all classes,
# or of all samples if ``class_sizes`` are given. A third of these samples are of one class, and a
# column has to keep it apart from most of the others to be even:

sizes = [300, 200, 150, 100, 80, 70]
for limit in (1, 0.5, 0.4, 0.2, 0.1):
    design = design_codebook(6, 10, max_imbalance=limit, class_sizes=sizes, random_state=0)
    print(f"imbalance at most {limit:3}: row distance {design.objective} ({design.status.name})")

# %%
# Between 0.3 and 0.5 a little distance buys columns that are easier to train; strict balance
# leaves hardly any column to choose from. A good compromise, as a notebook shows it:

design_codebook(6, 10, max_imbalance=0.4, class_sizes=sizes, random_state=0)
