"""Table 7: a binary network for each column, on CIFAR-10."""

from __future__ import annotations

from ecoc.paper.networks import network_table

__all__ = ["TABLE7"]

TABLE7 = network_table(
    "table7",
    "cifar10",
    title="CIFAR-10, binary ResNet-18",
    caption="Performance of different codebooks with binary CNN (ResNet-18) on CIFAR-10",
    claim="Binary networks on CIFAR-10: IP3 is the most accurate codebook",
    accuracies={
        ("ip3", "scores"): 76.25,
        ("dense", "scores"): 75.47,
        ("sparse", "normalised"): 68.15,
        ("sparse", "raw"): 61.53,
        ("one-vs-all", "scores"): 71.25,
        ("one-vs-one", "scores"): 68.76,
    },
)
