# X is what scikit-learn calls it
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from sklearn.datasets import load_digits
from tests.nn.cases import TERNARY, digits, tiny_mlp, weights

from ecoc.errors import FileFormatError
from ecoc.nn import ECOCNetworkClassifier, MulticlassTwin

ROOT = Path(__file__).parents[3]
QUICK = {"architecture": tiny_mlp, "epochs": 3, "batch_size": 40, "learning_rate": 0.01}


class StopAfter:
    """An augmentation that changes nothing, and stops everything at a call."""

    def __init__(self, calls):
        self.calls = calls

    def __call__(self, batch, generator):
        self.calls -= 1
        if self.calls == 0:
            raise KeyboardInterrupt
        return batch


def run(folder, calls=10**9, kind=ECOCNetworkClassifier, seed=0, **parameters):
    model = kind(
        TERNARY,
        **{**QUICK, **parameters},
        augment=StopAfter(calls),
        checkpoint=folder,
        random_state=seed,
    )
    return model.fit(*digits())


CASES = {
    "in turn": {},
    "stacked": {"strategy": "stacked"},
    "early stopping": {"validation_fraction": 0.2, "patience": 1},
    "sgd": {"optimizer": "sgd", "schedule": "cosine"},
    "attacked": {"training": "adversarial", "attack_steps": 1},
    "shared trunk": {"shared_trunk": True},
}


@pytest.mark.parametrize("name", CASES)
def test_an_interrupted_run_ends_as_an_unbroken_one(name, tmp_path):
    unbroken = run(None, **CASES[name])
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, calls=7, **CASES[name])
    resumed = run(tmp_path, **CASES[name])
    assert torch.equal(weights(resumed), weights(unbroken))
    assert resumed.records_ == unbroken.records_


def test_what_is_done_is_not_done_again(tmp_path):
    finished = run(tmp_path)
    again = run(tmp_path, calls=1)
    assert torch.equal(weights(again), weights(finished))


def test_the_twin_resumes_too(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, calls=6, kind=MulticlassTwin)
    resumed = run(tmp_path, kind=MulticlassTwin)
    assert torch.equal(weights(resumed), weights(run(None, kind=MulticlassTwin)))


def test_without_a_seed_the_one_of_the_folder_is_taken(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, calls=7, seed=None)
    resumed = run(tmp_path, seed=None)
    seed = json.loads((tmp_path / "run.json").read_text())["seed"]
    assert torch.equal(weights(resumed), weights(run(None, seed=seed)))


class Die:
    """An augmentation that changes nothing, and ends the process at a call."""

    left = 10**9

    def __call__(self, batch, generator):
        Die.left -= 1
        if Die.left == 0:
            os._exit(9)
        return batch


def train(folder):
    return ECOCNetworkClassifier(
        "one-vs-rest",
        architecture="mlp",
        epochs=3,
        augment=Die(),
        checkpoint=folder,
        random_state=0,
    ).fit(*load_digits(n_class=3, return_X_y=True))


KILLED = """
import sys
from tests.nn.training.test_checkpoints import Die, train
Die.left = 28
train(sys.argv[1])
"""


@pytest.mark.slow
def test_a_killed_process_leaves_what_it_had(tmp_path):
    # 5 batches, 3 epochs, 3 columns: killed in the last epoch of the second column.
    killed = subprocess.run([sys.executable, "-c", KILLED, tmp_path], cwd=ROOT, check=False)
    assert killed.returncode == 9
    assert (tmp_path / "column-0001.safetensors").exists()
    before = Die.left
    resumed = train(tmp_path)
    assert before - Die.left == 4 * 5  # four epochs were left
    assert torch.equal(weights(resumed), weights(train(None)))


def test_other_runs_are_refused(tmp_path):
    run(tmp_path)
    for changed in ({"epochs": 4}, {"seed": 1}, {"shared_trunk": True}):
        with pytest.raises(FileFormatError, match="of another run"):
            run(tmp_path, **changed)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[: len(data) // 2], "not a whole safetensors file"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "not those that were written"),
        (lambda data: data.replace(b"ecoc-nn-checkpoint", b"ecoc-nn-checkpoinx"), "of the kind"),
        (lambda data: b"", "not a whole safetensors file"),
    ],
)
def test_damaged_checkpoints_are_refused(damage, message, tmp_path):
    run(tmp_path)
    path = tmp_path / "column-0001.safetensors"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FileFormatError, match=message):
        run(tmp_path)


def test_a_damaged_record_of_the_run_is_refused(tmp_path):
    run(tmp_path)
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(FileFormatError, match="not the record of a run"):
        run(tmp_path)
