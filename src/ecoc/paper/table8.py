"""Table 8: accuracy under attack on MNIST, and what is certain there."""

from __future__ import annotations

from ecoc.paper.attacks import attack_table, judge_robustness
from ecoc.paper.records import Results
from ecoc.paper.table import Claim, PaperCell, Verdict

__all__ = ["TABLE8"]


def _judge_certainty(results: Results) -> Verdict:
    record = results.one(codebook="ip3-ibp")
    proved = {
        name.removeprefix("certified "): value
        for name, value in (record.measured.items() if record else ())
        if name.startswith("certified ")
    }
    if not proved:
        return None
    told = ", ".join(f"{value:.0f} % at {radius}" for radius, value in proved.items() if value > 0)
    text = (
        f"IP3 columns trained with interval bounds are certified, whatever the attack: {told}."
        if told
        else "Interval bounds certify nothing at these radii here either."
    )
    return "better" if told else "open", text


TABLE8 = attack_table(
    "table8",
    "mnist",
    title="MNIST under attack",
    caption="Adversarial accuracy of nominally trained codebooks on MNIST (l_inf PGD, 100 steps)",
    claims=(
        Claim("On MNIST, IP3 is robust to attacks without adversarial training", judge_robustness),
        Claim("No accuracy under attack is proved", _judge_certainty),
    ),
    radii=("0.05", "0.1", "0.15", "0.2", "0.25", "0.3"),
    steps=100,
    accuracies={
        "ip3": (95.46, 83.6, 57.67, 29.96, 12.99, 4.81),
        "one-vs-one": (84.48, 59.17, 25.57, 7.91, 2.36, 0.66),
        "one-vs-all": (93.64, 70.74, 30.89, 6.74, 1.87, 0.86),
        "sparse": (86.12, 58.67, 22.65, 5.4, 0.63, 0.01),
        "dense": (95.17, 84.08, 62.95, 43.54, 28.6, 16.34),
        "multiclass": (94.35, 70.29, 21.72, 2.19, 0.04, 0.0),
    },
    # Bounds on the paper's networks certify next to nothing at its radii; those on networks
    # that were trained for it do.
    more_cells=(PaperCell({"codebook": "ip3-ibp"}),),
    cost=5,
)
