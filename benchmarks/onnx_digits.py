"""How near ONNX graphs in onnxruntime come to the models that they were made from, on digits."""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import onnxruntime
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import ecoc
from ecoc.multiclass import ECOCClassifier

LEARNERS = {
    "linear": LogisticRegression(max_iter=200),
    "tree": DecisionTreeClassifier(),
    "forest": RandomForestClassifier(),
    "SVC": SVC(),
    "MLP": MLPClassifier(max_iter=100),
}


def main() -> None:
    """Print a row for each kind of columns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="only see that it runs")
    smoke = parser.parse_args().smoke
    samples, labels = load_digits(return_X_y=True)
    if smoke:
        samples, labels = samples[:300], labels[:300]
    train, _, y_train, _ = train_test_split(samples, labels, random_state=0)
    print("columns | samples | labels that differ | largest difference of scores | probabilities")
    for name, learner in LEARNERS.items():
        if smoke and name != "tree":
            continue
        model = ECOCClassifier(learner, codebook="optimal", random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(train, y_train)
        session = onnxruntime.InferenceSession(ecoc.to_onnx(model).SerializeToString())
        names = [output.name for output in session.get_outputs()]
        found = dict(zip(names, session.run(None, {"X": samples}), strict=True))
        wrong = int((found["label"] != model.predict(samples)).sum())
        scores = np.abs(found["scores"] - model.decision_function(samples)).max()
        shares = "-"
        if "probabilities" in found:
            gaps = np.abs(found["probabilities"] - model.predict_proba(samples)).max(axis=1)
            shares = f"{gaps.max():.0e}, {np.mean(gaps < 1e-5):.1%} of samples below 1e-5"
        print(f"{name} | {len(samples)} | {wrong} | {scores:.0e} | {shares}", flush=True)


if __name__ == "__main__":
    main()
