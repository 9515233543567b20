"""Table 9: accuracy under attack on CIFAR-10."""

from __future__ import annotations

from ecoc.paper.attacks import attack_table, judge_robustness
from ecoc.paper.table import Claim

__all__ = ["TABLE9"]

TABLE9 = attack_table(
    "table9",
    "cifar10",
    title="CIFAR-10 under attack",
    caption="Adversarial accuracy of nominally trained codebooks on CIFAR-10 (l_inf PGD, 30 steps)",
    claims=(
        Claim(
            "On CIFAR-10, IP3 is robust to attacks without adversarial training",
            judge_robustness,
        ),
    ),
    radii=("2/255", "4/255", "8/255"),
    steps=30,
    accuracies={
        "ip3": (24.04, 19.24, 16.48),
        "one-vs-one": (4.65, 0.11, 0.0),
        "one-vs-all": (2.83, 0.14, 0.0),
        "sparse": (5.05, 0.08, 0.0),
        "dense": (24.2, 12.79, 11.63),
        "multiclass": (15.46, 2.55, 0.27),
    },
    cost=4,
)
