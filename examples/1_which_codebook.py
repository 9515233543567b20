"""
Which codebook?
===============

The best codebook depends on the learner more than on anything else. Here a decision tree and a
linear learner are cross-validated with three codebooks, and without any, on the same folds.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

from ecoc import ECOCClassifier
from ecoc.multiclass.diagnostics import Splits, compare_on_splits

X, y = load_digits(return_X_y=True)
X, y = X[:1000], y[:1000]

learners = {
    "decision tree": DecisionTreeClassifier(random_state=0),
    "linear (ridge)": RidgeClassifier(),
}
comparisons = {}
for name, learner in learners.items():
    models = {
        code: ECOCClassifier(learner, codebook=code, random_state=0)
        for code in ("optimal", "one-vs-one", "one-vs-rest")
    }
    comparisons[name] = compare_on_splits(
        {**models, "no code": learner}, X, y, Splits.folds(y, 3, random_state=0)
    )

# %%
# Each dot is a fold, each bar the mean with its standard error.

figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharex=True)
for ax, (name, comparison) in zip(axes, comparisons.items(), strict=True):
    comparison.plot(ax)
    ax.set_title(name)

# %%
# For trees the optimal code is far ahead: each of its 20 columns is another tree, and the errors
# of some are corrected by the others. A hyperplane cannot tell unions of classes apart, so that
# the linear learner does better with pairs of classes. ``codebook="auto"``, the default, knows
# that, and says so:

for learner in learners.values():
    model = ECOCClassifier(learner, random_state=0).fit(X, y)
    print(model.codebook_reason_.partition(";")[0])

# %%
# A comparison is a table too, and says which differences are more than chance:

for line in comparisons["decision tree"].table():
    print("{:12}  {:15}  {:8}  {:7}  {:38}  {}".format(*line))
