"""
Failing columns
===============

A column may fail after training: a worker dies, a sensor is mounted the wrong way round. An
error-correcting code goes on deciding. Here columns give the opposite of their answers, one
after the other, in an order drawn at random.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from ecoc import ECOCClassifier
from ecoc.multiclass.decoders import SelfHealing

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

models = {
    code: ECOCClassifier(SVC(C=10), codebook=code, random_state=0).fit(X_train, y_train)
    for code in ("optimal", "one-vs-one", "one-vs-rest")
}

# %%
# The columns are asked once. Failing is then a change of sign, and a decoder makes classes of
# what is left.


def accuracy(model, decoder, share, n_draws=10):
    """The mean accuracy when a share of the columns is flipped."""
    scores = model.column_scores(X_test)
    n_columns = scores.shape[1]
    rng = np.random.default_rng(0)
    right = []
    for _ in range(n_draws):
        flipped = rng.permutation(n_columns)[: round(share * n_columns)]
        broken = scores.copy()
        broken[:, flipped] *= -1
        predicted = decoder(broken, model.codebook_.matrix).argmax(axis=1)
        right.append(np.mean(model.classes_[predicted] == y_test))
    return np.mean(right)


shares = np.array([0, 0.1, 0.2, 0.3, 0.4])
curves = {
    code: [accuracy(model, model.decoder_, share) for share in shares]
    for code, model in models.items()
}
curves["optimal, self-healing"] = [
    accuracy(models["optimal"], SelfHealing(), share) for share in shares
]

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, curve in curves.items():
    ax.plot(100 * shares, 100 * np.array(curve), "o-", label=name)
ax.set(xlabel="flipped columns (%)", ylabel="accuracy (%)", ylim=(0, 102))
ax.legend()

# %%
# The optimal code of 10 classes and 20 columns survives any four wrong columns for certain, as
# long as the others are right; the usual codes survive none.

for code, model in models.items():
    print(f"{code}: {model.codebook_.correctable_errors} of {model.codebook_.n_columns} columns")

# %%
# A column that is known to be lost costs even less. It is declared missing, and the others
# decide:

lost = models["optimal"].predict(X_test, missing_columns=[2, 5, 11, 17])
print(f"all columns: {models['optimal'].score(X_test, y_test):.3f}")
print(f"four lost:   {np.mean(lost == y_test):.3f}")
