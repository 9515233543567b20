"""
Many classes, few at a time
===========================

Some learners take only so many classes; tabular foundation models stop at about ten. A codebook
of more than two symbols lets them work on any number: each column splits the classes into up to
q groups, and the learner tells the groups apart. Here a learner of at most ten classes works on
forty.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

from ecoc import ECOCClassifier

X, y = make_classification(
    2400,
    20,
    n_informative=15,
    n_classes=40,
    n_clusters_per_class=1,
    class_sep=2.5,
    random_state=0,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
learner = ExtraTreesClassifier(20, random_state=0)

# %%
# ``max_classes`` is all that has to be said. With the number of columns to spend, the codebook is
# the best one of its size, with proof:

model = ECOCClassifier(learner, max_classes=10, n_columns=6, random_state=0)
model.fit(X_train, y_train)
print(model.codebook_reason_.replace("; ", "\n"))
model.codebook_

# %%
# More columns are more accurate. Two are the fewest that tell forty classes apart with ten
# symbols (the numbers of the classes in digits), but then a wrong column is a wrong class.

digits = ECOCClassifier(learner, codebook="digits", n_symbols=10).fit(X_train, y_train)
models = [digits] + [
    ECOCClassifier(learner, max_classes=10, n_columns=n, random_state=0).fit(X_train, y_train)
    for n in (3, 4, 6, 9)
]

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
lengths = [model.codebook_.n_columns for model in models]
accuracies = [100 * model.score(X_test, y_test) for model in models]
ax.plot(lengths, accuracies, "o-")
for model, length, accuracy in zip(models, lengths, accuracies, strict=True):
    label = f"distance {model.codebook_.min_row_distance}"
    ax.annotate(label, (length, accuracy), (7, -11), textcoords="offset points")
ax.set(xlabel="columns, each a learner of 10 classes", ylabel="accuracy on 40 classes (%)")
ax.margins(x=0.15, y=0.12)
