"""Table 6: a binary network for each column, on MNIST."""

from __future__ import annotations

from ecoc.paper.networks import network_table

__all__ = ["TABLE6"]

TABLE6 = network_table(
    "table6",
    "mnist",
    title="MNIST, binary CNN",
    caption="Performance of different codebooks with binary CNN on MNIST",
    claim="Binary networks on MNIST: IP3 is the most accurate codebook",
    accuracies={
        ("ip3", "scores"): 98.84,
        ("dense", "scores"): 98.8,
        ("sparse", "normalised"): 95.05,
        ("sparse", "raw"): 84.17,
        ("one-vs-all", "scores"): 98.65,
        ("one-vs-one", "scores"): 94.51,
    },
)
