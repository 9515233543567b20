"""Ways to train neural columns side by side: sequential, processes, stacked, shared trunk.

    python benchmarks/speed_nn.py                # 20 small CNN columns, 28 x 28 images
    python benchmarks/speed_nn.py --repeats 9    # more rounds, for machines with other work
    python benchmarks/speed_nn.py --data FOLDER  # what a shared trunk costs on MNIST, in minutes
    python benchmarks/speed_nn.py --smoke        # seconds: 4 columns of 8 x 8 digits

Every round runs all ways one after the other, and ratios are taken within a round, so that
other work on the machine meets all ways alike. "sequential" uses as many threads as there
are cores, "processes" as many processes with a thread each.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import numpy as np
import torch
from sklearn.datasets import load_digits

from ecoc.datasets import load_dataset
from ecoc.multiclass.diagnostics import column_errors, error_correlation
from ecoc.nn import ECOCNetworkClassifier
from ecoc.robustness.attacks import PGD

TRAINED = {
    "sequential": {"strategy": "sequential"},
    "processes": {"strategy": "processes"},
    "stacked": {"strategy": "stacked"},
    "shared trunk": {"shared_trunk": True},
}


def images(smoke: bool) -> tuple[np.ndarray, np.ndarray]:
    """Digits as they are, or repeated and enlarged to the size of MNIST's."""
    pixels, labels = load_digits(return_X_y=True)
    pictures = (pixels / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    if smoke:
        return pictures[:200], labels[:200]
    large = np.pad(pictures.repeat(3, axis=2).repeat(3, axis=3), [(0, 0), (0, 0), (2, 2), (2, 2)])
    return large, labels


def seconds(function: Callable[[], object]) -> float:
    """How long a call takes."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def attack_step(module: torch.nn.Module, inputs: torch.Tensor) -> None:
    """What a gradient attack does in a step: forward, and back to the inputs."""
    point = inputs.clone().requires_grad_()
    torch.autograd.grad(module(point).logsumexp(dim=1).sum(), point)


def trunk_cost(data: str) -> None:
    """Columns of their own and on a shared trunk: accuracy, correlation, robustness."""
    mnist = load_dataset("mnist", data=data)
    pixels = (mnist.images[:, None] / 255).astype(np.float32)
    cut = len(mnist.y_train)
    parts = tuple(
        (pixels[start : start + n], mnist.y[start : start + n].astype(int))
        for start, n in ((0, 10_000), (cut, 1_000))
    )
    (train, train_labels), (test, test_labels) = parts
    print(
        "\n              accuracy  column errors  mean phi  under PGD at 0.05, 0.1, 0.15  seconds"
    )
    for name in ("sequential", "shared trunk"):
        model = ECOCNetworkClassifier(**TRAINED[name], epochs=10 if data else 1, random_state=0)
        took = seconds(lambda m=model: m.fit(train, train_labels))
        wrong = column_errors(model, test, test_labels).rates
        phi = error_correlation(model, test, test_labels).mean_phi
        attack = PGD(steps=40 if data else 2, loss="margin")
        module = model.as_module("normalised-linear")
        left = [
            1 - attack(module, test[:300], test_labels[:300], epsilon=radius).success_rate
            for radius in (0.05, 0.1, 0.15)
        ]
        print(
            f"{name:14} {model.score(test, test_labels):>6.3f} {wrong.mean():>13.3%} {phi:>11.2f} "
            f"   {left[0]:>8.3f} {left[1]:>8.3f} {left[2]:>8.3f} {took:>14.1f}",
            flush=True,
        )


def report(title: str, times: dict[str, list[float]]) -> None:
    """Times, and ratios to the first way within rounds."""
    base = np.array(next(iter(times.values())))
    print(f"\n{title}\n{'':14} seconds (median)   speed-up: median (least to largest)")
    for name, found in times.items():
        ratios = base / np.array(found)
        print(
            f"{name:14} {np.median(found):>10.3f}          {np.median(ratios):>6.2f} "
            f"({ratios.min():.2f} to {ratios.max():.2f})"
        )


def main() -> None:
    """Time every way in every round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="rounds")
    parser.add_argument("--epochs", type=int, default=8, help="epochs of a training")
    parser.add_argument("--data", help="a folder with the files of MNIST")
    parser.add_argument("--smoke", action="store_true", help="the smallest setting")
    arguments = parser.parse_args()
    if arguments.data:
        trunk_cost(arguments.data)
        return
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    torch.set_num_threads(1 if arguments.smoke else n_cores or 1)
    repeats, n_columns = (1, 4) if arguments.smoke else (arguments.repeats, 20)
    pictures, labels = images(arguments.smoke)
    common = {
        "n_columns": n_columns,
        "epochs": 1 if arguments.smoke else arguments.epochs,
        "n_jobs": n_cores,
        "random_state": 0,
    }
    models = {name: ECOCNetworkClassifier(**common, **way) for name, way in TRAINED.items()}
    print(
        f"{n_columns} columns, {len(labels)} images of {pictures.shape[2]} x {pictures.shape[3]}, "
        f"{common['epochs']} epochs, {n_cores} cores, {repeats} rounds, torch {torch.__version__}"
    )
    if arguments.smoke:
        del models["processes"]  # whose imports take longer than everything else
    else:
        models["processes"].fit(pictures[:64], labels[:64])  # workers start once, and stay
    training: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(repeats):
        for name, model in models.items():
            training[name].append(seconds(lambda m=model: m.fit(pictures, labels)))
    report("training", training)
    for name, model in models.items():
        print(f"{name:14} training accuracy {model.score(pictures, labels):.3f}")

    batch = torch.from_numpy(pictures[:128])
    forms = {
        "sequential": models["sequential"].as_module("normalised-linear"),
        "stacked": models["sequential"].as_module("normalised-linear", stacked=True),
        "shared trunk": models["shared trunk"].as_module("normalised-linear"),
    }
    steps: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(1 + 5 * repeats):
        for name, module in forms.items():
            steps[name].append(seconds(lambda m=module: attack_step(m, batch)))
    report("attack step, 128 images", {name: found[1:] for name, found in steps.items()})


if __name__ == "__main__":
    main()
