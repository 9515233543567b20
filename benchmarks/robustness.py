"""Masked models, hardened networks, foreign inputs and other threats, on MNIST.

    python benchmarks/robustness.py --data FOLDER            all sections
    python benchmarks/robustness.py masked --attacked 100    one section, on fewer samples
    python benchmarks/robustness.py --smoke                  seconds, on scikit-learn's digits

Codebooks are compared by ``ecoc reproduce table8 --full``. Sections: ``masked`` (the last layer
times 50: the warning must come, and the strong accuracy must hardly change), ``adversarial`` (what
is left after adversarial training of a code and of ordinary networks, at equal epochs and at equal
compute), ``ibp`` (certified accuracies of the same), ``outliers`` (how well foreign inputs are
told from digits, by the least loss to a codeword and by what an ordinary network and five of them
say), ``tables`` (the same for tables, where a class that was left out is foreign), ``threats``
(the strong protocol for changes of few pixels, patches, sums of changes and corruptions, for a
code and an ordinary network), ``stages`` (which stage of the strong protocol takes how long and
breaks how much; with another version of the library on ``PYTHONPATH`` and the same ``--keep``, it
attacks the same networks).

An accuracy under attack is an upper bound on what is left. Trained networks are kept in the
folder of ``--keep``, so that a section can be run again without training.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ecoc.datasets import load_dataset
from ecoc.design import design_codebook
from ecoc.multiclass import ECOCClassifier
from ecoc.nn import ECOCNetworkClassifier, NetworkClassifier, load_model
from ecoc.nn.networks.architectures import mlp, small_cnn
from ecoc.robustness import AttackProgress, certify, corrupt, evaluate_robustness
from ecoc.robustness.corruptions import CORRUPTIONS

CERTIFIED = (0.05, 0.1)
HARDENED = (0.05, 0.1, 0.15)
WIDER = 5
"""How many times as wide an ordinary network may be: over 20 times the operations."""


@dataclass(frozen=True)
class Data:
    """Images between 0 and 1 and their labels."""

    train: np.ndarray
    y_train: np.ndarray
    test: np.ndarray
    y_test: np.ndarray
    name: str


def load(options: argparse.Namespace) -> Data:
    """The samples that everything is trained and tested on: the first of each part."""
    if options.smoke:
        found = load_dataset("digits")
        images = (found.images / 16).astype(np.float32)[:, None]
        return Data(images[:200], found.y[:200], images[200:220], found.y[200:220], "digits")
    found = load_dataset("mnist", data=options.data)
    images = (found.images / 255).astype(np.float32)[:, None]
    train, test = images[: options.train], images[found.n_train :][: options.test]
    return Data(train, found.y[: options.train], test, found.y_test[: options.test], "mnist")


def coded(options: argparse.Namespace) -> ECOCNetworkClassifier:
    """A network for each column of the optimal code, not trained yet."""
    return ECOCNetworkClassifier(
        design_codebook(10, 20, min_column_distance=3, random_state=0),
        architecture="mlp" if options.smoke else "small-cnn",
        epochs=1 if options.smoke else options.epochs,
        n_jobs=options.jobs,
        random_state=0,
    )


def trained(name: str, model: Any, data: Data, options: argparse.Namespace) -> Any:
    """The model, trained, or read from the folder where it is there."""
    keep = None if options.keep is None else Path(options.keep)
    path = None if keep is None else keep / f"{data.name}-{name.replace(' ', '-')}.safetensors"
    if path is not None and path.exists():
        return load_model(path)
    model.fit(data.train, data.y_train)
    if path is not None and keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        model.save(path)
    return model


def attacked(
    model: Any,
    data: Data,
    options: argparse.Namespace,
    epsilons: tuple[float, ...],
    radii: np.ndarray | None = None,
) -> Any:
    """The strong evaluation, which has the paper's protocol inside."""
    n = options.attacked
    return evaluate_robustness(
        model,
        data.test[:n],
        data.y_test[:n],
        epsilons=epsilons,
        certified_radii=None if radii is None else radii[:n],
        random_state=0,
    )


def percent(share: float | None, width: int = 13) -> str:
    """A share for a table; None is one that is withheld."""
    return f"{'-':>{width}}" if share is None else f"{100 * share:{width}.1f}"


def masked(data: Data, options: argparse.Namespace) -> None:
    """A model whose last layers are multiplied by 50 hides its gradients.

    Decoded by codewords times logits or by Hamming distance it decides as before. The sum of
    probabilities becomes a count of labels, so there the scaled model is compared with Hamming
    decoding.
    """
    model = trained("IP", coded(options), data, options)
    scaled = copy.deepcopy(model)
    for network in scaled.networks_:
        last = [layer for layer in network.modules() if isinstance(layer, torch.nn.Linear)][-1]
        with torch.no_grad():
            last.weight *= 50
            last.bias *= 50
    epsilons = (0.1,) if options.smoke else (0.1, 0.15)
    heads = [f"{protocol} {e:g}" for e in epsilons for protocol in ("paper", "strong")]
    print(f"{'masked gradients':32}" + "".join(f"{head:>13}" for head in heads))
    rows = (
        ("linear, as trained", model, "normalised-linear"),
        ("linear, times 50", scaled, "normalised-linear"),
        ("hamming, as trained", model, "hamming"),
        ("soft, as trained", model, "soft"),
        ("soft, times 50", scaled, "soft"),
    )
    for label, network, decoding in rows[1:2] if options.smoke else rows:
        network.set_params(decoding=decoding)
        result = attacked(network, data, options, epsilons)
        pairs = zip(result.paper, result.attacked, strict=True)
        print(f"{label:32}" + "".join(percent(p) + percent(s) for p, s in pairs))
        for warning in result.warnings:
            print(f"    warning: {warning}", flush=True)


def adversarial(data: Data, options: argparse.Namespace) -> None:
    """Accuracy under the strong protocol after adversarial training."""
    epochs = 1 if options.smoke else options.adversarial_epochs
    epsilons = HARDENED[1:2] if options.smoke else HARDENED
    settings = {
        "architecture": "mlp" if options.smoke else "small-cnn",
        "training": "adversarial",
        "epsilon": 0.1,
        "epochs": epochs,
        "random_state": 0,
    }
    print(
        f"{data.name}: {len(data.train)} training samples, {epochs} epochs of PGD at "
        f"{settings['epsilon']}, clean on {len(data.test)} samples, attacked by the strong "
        f"protocol on the first {min(options.attacked, len(data.test))}"
    )
    print(f"{'':40}{'CPU s':>9}{'clean':>8}" + "".join(f"{e:>8g}" for e in epsilons))
    design = design_codebook(10, 20, min_column_distance=3, random_state=0)
    times = 2 if options.smoke else WIDER
    wide = partial(mlp, hidden=(64, 32)) if options.smoke else partial(small_cnn, times=times)
    together = {"shared_trunk": True, "attack_through": "decoder"}
    models: dict[str, Any] = {
        "k outputs": NetworkClassifier(**settings),
        "code, shared trunk": ECOCNetworkClassifier(design, **together, **settings),
        "code, a network for each column": ECOCNetworkClassifier(design, **settings),
        f"k outputs, {times} times as wide": NetworkClassifier(
            **{**settings, "architecture": wide}
        ),
    }
    for name, model in list(models.items())[: 2 if options.smoke else None]:
        begun = time.process_time()
        model.fit(data.train, data.y_train)
        seconds = time.process_time() - begun
        result = attacked(model, data, options, epsilons)
        cells = "".join(percent(value, 8) for value in result.attacked)
        clean = model.score(data.test, data.y_test)
        print(f"{name:40}{seconds:9.1f}{percent(clean, 8)}{cells}", flush=True)
        for warning in (result.withheld, *result.warnings):
            if warning:
                print(f"    warning: {warning}", flush=True)


def ibp(data: Data, options: argparse.Namespace) -> None:
    """Certified accuracies after interval-bound training."""
    epochs = 1 if options.smoke else options.ibp_epochs
    settings = {
        "architecture": "mlp" if options.smoke else "small-cnn",
        "training": "ibp",
        "epsilon": 0.1,
        "epochs": epochs,
        "random_state": 0,
    }
    print(
        f"certified by interval bounds on {_n_certified(options)} samples, attacked by the strong "
        f"protocol on the first {min(options.attacked, _n_certified(options))}; training radius "
        f"{settings['epsilon']}, {epochs} epochs"
    )
    heads = [f"{kind} {e:g}" for kind in ("proved", "strong") for e in CERTIFIED]
    print(f"{'':34}{'seconds':>9}{'clean':>8}" + "".join(f"{head:>13}" for head in heads))
    design = design_codebook(10, 20, min_column_distance=3, random_state=0)
    code = ECOCNetworkClassifier(design, **settings)
    forms = ("soft", "normalised-linear", "hamming", "all-bits")[:: 3 if options.smoke else 1]
    spent = certified_rows("code, 20 networks", code, forms, data, options)
    shared = ECOCNetworkClassifier(design, shared_trunk=True, **settings)
    certified_rows("code, shared trunk", shared, forms, data, options)
    plain = NetworkClassifier(**settings)
    seconds = certified_rows("k outputs, equal epochs", plain, ("model",), data, options)
    # What the columns cost can be spent on more units, or on more epochs.
    times = 2 if options.smoke else WIDER
    wide = partial(mlp, hidden=(64, 32)) if options.smoke else partial(small_cnn, times=times)
    plain = NetworkClassifier(**{**settings, "architecture": wide})
    certified_rows(f"k outputs, {times} times as wide", plain, ("model",), data, options)
    longer = max(epochs, round(epochs * spent / max(seconds, 1e-9)))
    longer = min(longer, 3 * epochs) if options.smoke else longer
    for n_epochs in (longer,) if options.smoke else (2 * epochs, longer):
        plain = NetworkClassifier(**{**settings, "epochs": n_epochs})
        certified_rows(f"k outputs, {n_epochs} epochs", plain, ("model",), data, options)


def certified_rows(
    name: str,
    model: Any,
    decodings: tuple[str, ...],
    data: Data,
    options: argparse.Namespace,
) -> float:
    """Train a model, print what is certified and what stands; return the seconds it took."""
    start = time.process_time()
    model.fit(data.train, data.y_train)
    seconds = time.process_time() - start
    n = _n_certified(options)
    for decoding in decodings:
        found = certify(
            model,
            data.test[:n],
            data.y_test[:n],
            epsilons=CERTIFIED,
            method="ibp",
            decoding=decoding,
        )
        accuracies = list(found.certified_accuracy or ())
        if decoding != "all-bits":  # which abstains, and so is no classifier to attack
            if decoding != "model":
                model.set_params(decoding=decoding)
            # Raises if an attack breaks what was proved to stand.
            accuracies += attacked(model, data, options, CERTIFIED, found.radii).attacked
        cells = "".join(percent(value) for value in accuracies)
        clean = 100 * (found.clean_accuracy or 0)
        print(f"{f'{name}, {decoding}':34}{seconds:9.1f}{clean:8.1f}{cells}", flush=True)
    return seconds


def outliers(data: Data, options: argparse.Namespace) -> None:
    """AUROC of digits against foreign inputs, the mean over seeds and its standard deviation."""
    kinds = foreign(data, options)
    found: dict[str, list[list[float]]] = {}
    for seed in range(1 if options.smoke else options.seeds):
        for name, score in alarms(data, options, seed).items():
            own = score(data.test)
            labels = [np.repeat([0, 1], [len(own), len(inputs)]) for inputs in kinds.values()]
            values = [np.concatenate([own, score(inputs)]) for inputs in kinds.values()]
            areas = [roc_auc_score(*pair) for pair in zip(labels, values, strict=True)]
            found.setdefault(name, []).append(areas)
    print(f"AUROC against {len(data.test)} test samples; {len(data.train)} training samples")
    print(f"{'':28}" + "".join(f"{kind:>16}" for kind in kinds) + f"{'mean':>8}")
    for name, rows in found.items():
        means, spreads = np.mean(rows, axis=0), np.std(rows, axis=0)
        cells = [f"{m:.3f} +- {s:.3f}" for m, s in zip(means, spreads, strict=True)]
        print(f"{name:28}" + "".join(f"{cell:>16}" for cell in cells) + f"{means.mean():8.3f}")


def foreign(data: Data, options: argparse.Namespace) -> dict[str, np.ndarray]:
    """Inputs of the shape of digits that are none, between 0 and 1."""
    generator = np.random.default_rng(0)
    flat = data.test.reshape(len(data.test), -1)
    kinds = {
        "inverted": 1 - data.test,
        "uniform noise": generator.random(data.test.shape, dtype=np.float32),
        "shuffled pixels": generator.permuted(flat, axis=1).reshape(data.test.shape),
        "two digits": (data.test + np.roll(data.test, 1, axis=0)) / 2,
    }
    if not options.smoke:
        images = load_dataset("cifar10", data=options.data).images[: len(data.test)]
        grey = images.reshape(-1, 32, 32, 3).mean(axis=3)[:, None, 2:30, 2:30]
        kinds = {"grey CIFAR": (grey / 255).astype(np.float32), **kinds}
    return kinds


def alarms(
    data: Data, options: argparse.Namespace, seed: int
) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Scores that should be large for foreign inputs, of networks trained from one seed."""
    settings = {
        "architecture": "mlp" if options.smoke else "small-cnn",
        "epochs": 1 if options.smoke else options.epochs,
    }
    design = design_codebook(10, 20, min_column_distance=3, random_state=0)
    shared = ECOCNetworkClassifier(design, shared_trunk=True, random_state=seed, **settings)
    plain = [
        NetworkClassifier(random_state=1000 * member + seed, **settings)
        for member in range(2 if options.smoke else 5)
    ]
    for model in (shared, *plain):
        model.fit(data.train, data.y_train)
    first = plain[0]
    return {
        "code, least loss": shared.outlier_score,
        "ordinary, softmax": first.outlier_score,
        "ordinary, largest logit": lambda x: -first.decision_function(x).max(axis=1),
        "ordinary, energy": lambda x: -logsumexp(first.decision_function(x), axis=1),
        "five ordinary, softmax": lambda x: (
            -np.mean([each.predict_proba(x) for each in plain], axis=0).max(axis=1)
        ),
    }


TABLES = ("glass", "ecoli", "yeast", "vowel", "segment", "pendigits")
LEARNERS = {
    "svm": lambda: make_pipeline(StandardScaler(), SVC(C=10, gamma="scale")),
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
}
MOST_ROWS = 1000
"""Rows that are taken of a table."""


def tables(data: Data, options: argparse.Namespace) -> None:
    """AUROC of classes that were trained on against one that was not, on tables.

    Classes with at least ten samples are left out in turn, three at most for each table.
    """
    del data
    print("AUROC of held-out samples against a class that was left out; means over classes")
    print(f"{'':10}{'':10}{'classes':>8}{'least loss':>12}{'probability':>12}")
    for name, make in list(LEARNERS.items())[: 1 if options.smoke else None]:
        rows = []
        for table in ("digits",) if options.smoke else TABLES:
            found = load_dataset(table, data=options.data)
            areas = [_left_out(make(), *part) for part in _parts(found.X, found.y, options)]
            rows.append(np.mean(areas, axis=0))
            cells = "".join(f"{value:12.3f}" for value in rows[-1])
            print(f"{name:10}{table:10}{len(areas):8}{cells}", flush=True)
        print(
            f"{name:10}{'mean':18}" + "".join(f"{value:12.3f}" for value in np.mean(rows, axis=0))
        )


def _parts(
    x: np.ndarray, y: np.ndarray, options: argparse.Namespace
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Training samples and labels, held-out samples, and foreign ones, for each class left out."""
    some = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    x, y = x[some], y[some]
    classes, counts = np.unique(y, return_counts=True)
    large = classes[counts >= 10]
    parts = []
    for left_out in large[: 1 if options.smoke else 3]:
        own = np.isin(y, large) & (y != left_out)
        split = train_test_split(x[own], y[own], test_size=0.3, random_state=0, stratify=y[own])
        parts.append((split[0], split[2], split[1], x[y == left_out]))
    return parts


def _left_out(
    learner: Any, x: np.ndarray, y: np.ndarray, own: np.ndarray, foreign_ones: np.ndarray
) -> tuple[float, float]:
    """AUROC by the least loss to a codeword, and by the largest probability."""
    # Machines have no probabilities of their own.
    calibration = None if hasattr(learner, "predict_proba") else "sigmoid"
    model = ECOCClassifier(learner, calibration=calibration, random_state=0)
    model.fit(x, y)
    both = np.concatenate([own, foreign_ones])
    labels = np.repeat([0, 1], [len(own), len(foreign_ones)])
    return (
        float(roc_auc_score(labels, model.outlier_score(both))),
        float(roc_auc_score(labels, -model.predict_proba(both).max(axis=1))),
    )


CODES = ("IP", "one-vs-one")
THREATS = {"l1": (2, 5, 10), "l0": (2, 5, 10), "patch": (3, 5, 7), "corruptions": (1, 3, 5)}


def threats(data: Data, options: argparse.Namespace) -> None:
    """What stands other changes than those of l_inf, and corruptions alone, kind by kind."""
    settings = {
        "architecture": "mlp" if options.smoke else "small-cnn",
        "epochs": 1 if options.smoke else options.epochs,
    }
    made = {"IP": coded(options), "ordinary": NetworkClassifier(random_state=0, **settings)}
    n = options.attacked
    x, y = data.test[:n], data.y_test[:n]
    print(f"strong protocol on {len(x)} samples; {len(data.train)} training samples")
    for name, network in made.items():
        model = trained(name, network, data, options)
        for norm, radii in THREATS.items():
            begun = time.process_time()
            result = evaluate_robustness(
                model, x, y, epsilons=radii[: 1 if options.smoke else 3], norm=norm, random_state=0
            )
            cells = "  ".join(
                f"{e:g}: {percent(a, 0)}"
                for e, a in zip(result.epsilons, result.attacked, strict=True)
            )
            seconds = time.process_time() - begun
            print(f"{name:12}{norm:13}clean {percent(result.clean, 0)}  {cells}  {seconds:.0f} s")
            print(f"{'':25}{result.found_by}", *result.warnings, flush=True)
        severities = (1,) if options.smoke else (1, 3, 5)
        shares = {
            kind: [
                np.mean(model.predict(corrupt(data.test, kind, s)) == data.y_test)
                for s in severities
            ]
            for kind in CORRUPTIONS
        }
        for kind, row in {**shares, "mean": np.mean(list(shares.values()), axis=0)}.items():
            print(f"{name:12}{kind:16}" + "".join(percent(share, 8) for share in row))


def stages(data: Data, options: argparse.Namespace) -> None:
    """CPU seconds of each stage of the strong protocol, and the samples that it breaks."""
    settings = {
        "architecture": "mlp" if options.smoke else "small-cnn",
        "epochs": 1 if options.smoke else options.epochs,
        "decoding": "soft",
        "random_state": 0,
    }
    n = options.attacked
    x, y = data.test[:n], data.y_test[:n]
    for name in CODES[: 1 if options.smoke else None]:
        design = design_codebook(10, 20, min_column_distance=3, random_state=0)
        codebook = design if name == "IP" else name
        model = trained(f"{name} soft", ECOCNetworkClassifier(codebook, **settings), data, options)
        spent: dict[str, float] = {}
        clock = time.process_time()

        def note(point: AttackProgress, spent: dict[str, float] = spent) -> None:
            nonlocal clock
            now = time.process_time()
            spent[point.stage] = spent.get(point.stage, 0) + now - clock
            clock = now

        result = evaluate_robustness(model, x, y, epsilons=HARDENED, random_state=0, progress=note)
        cells = "  ".join(
            f"{e:g}: {percent(a, 0)}" for e, a in zip(result.epsilons, result.attacked, strict=True)
        )
        print(f"{name}, {len(x)} samples: {sum(spent.values()):.1f} s  {cells}")
        for stage, seconds in spent.items():
            print(f"    {stage:32}{seconds:8.1f} s{result.found_by.get(stage, 0):6}", flush=True)


def _n_certified(options: argparse.Namespace) -> int:
    return 4 if options.smoke else options.certified


SECTIONS = {
    "masked": masked,
    "adversarial": adversarial,
    "ibp": ibp,
    "outliers": outliers,
    "tables": tables,
    "threats": threats,
    "stages": stages,
}


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], default=[])
    parser.add_argument("--data", help="folder of data files (the variable ECOC_DATA)")
    parser.add_argument("--train", type=int, default=10_000)
    parser.add_argument("--test", type=int, default=1000)
    parser.add_argument("--attacked", type=int, default=1000, help="samples that are attacked")
    parser.add_argument("--certified", type=int, default=1000, help="samples of section ibp")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--adversarial-epochs", type=int, default=6)
    parser.add_argument("--ibp-epochs", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=3, help="of section outliers")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--keep", help="folder for trained networks")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    if options.smoke:
        options.attacked = 1
    torch.set_num_threads(1)
    data = load(options)
    for name in options.sections or SECTIONS:
        SECTIONS[name](data, options)
        print()


if __name__ == "__main__":
    main()
