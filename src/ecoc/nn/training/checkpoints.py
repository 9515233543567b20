"""Where training stands after an epoch, in files of tensors from which it can go on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ecoc._checks import check_int, check_number, require
from ecoc._files import parse_json, read_bytes, write_atomically
from ecoc.errors import FileFormatError

__all__ = [
    "Checkpoint",
    "CheckpointFolder",
    "TrainingState",
    "digest",
    "read_tensors",
    "stored_seed",
    "write_tensors",
]


_VERSION = 1
MAX_TENSOR_BYTES = 1 << 34
"""The largest file that is read, 16 GiB."""


def digest(tensors: Mapping[str, Tensor]) -> str:
    """A SHA-256 of names, shapes and values.

    Examples
    --------
    >>> digest({"a": torch.zeros(2)}) == digest({"a": torch.zeros(1, 2)})
    False
    """
    hashed = hashlib.sha256()
    for name in sorted(tensors):
        value = tensors[name].detach().cpu().contiguous()
        hashed.update(f"{name} {value.dtype} {tuple(value.shape)};".encode())
        hashed.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return hashed.hexdigest()


def write_tensors(
    path: Path, tensors: Mapping[str, Tensor], kind: str, metadata: Mapping[str, Any]
) -> None:
    """Write tensors and JSON data to a file that is replaced in one step."""
    safetensors = require("safetensors.torch", extra="nn")
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    text = json.dumps({**metadata, "version": _VERSION, "digest": digest(plain)}, allow_nan=False)
    write_atomically(path, safetensors.save(plain, metadata={kind: text}))


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what :func:`write_tensors` wrote; any other bytes are refused.

    Raises
    ------
    FileFormatError
        If the file is missing, of another kind or version, cut short or changed.
    """
    safetensors = require("safetensors.torch", extra="nn")
    data = read_bytes(path, max_bytes=MAX_TENSOR_BYTES)
    try:
        tensors = safetensors.load(data)
        size = int.from_bytes(data[:8], "little")
        header = parse_json(data[8 : 8 + size]).get("__metadata__", {})
        present = digest(tensors)
    # The library's own error derives from Exception alone.
    except Exception as error:
        raise FileFormatError(f"{path}: not a whole safetensors file: {error}.") from error
    if kind not in header:
        raise FileFormatError(f"{path}: not a file of the kind {kind!r}.")
    try:
        metadata = parse_json(header[kind].encode())
    except FileFormatError as error:
        raise FileFormatError(f"{path}: its description is not JSON: {error}") from error
    if not isinstance(metadata, dict) or metadata.get("version") != _VERSION:
        raise FileFormatError(f"{path}: written in a form that this version does not read.")
    if metadata.get("digest") != present:
        raise FileFormatError(f"{path}: the weights are not those that were written.")
    return tensors, metadata


_KIND = "ecoc-nn-checkpoint"
_RUN = "run.json"


@dataclass(frozen=True)
class TrainingState:
    """Where the training of some members stands.

    Attributes
    ----------
    epoch : int
        Epochs that are done.
    losses, validation_losses : tuple of tuple of float
        The losses of each epoch, one for each member.
    best_losses : tuple of float or None
        The least validation loss of each member.
    waited : tuple of int
        Epochs since then.
    trained : tuple of int
        Epochs of each member, up to where it stopped.
    stopped : tuple of bool
        Members that are judged no longer.
    best : mapping
        The weights that belong to the best losses; empty without validation.
    """

    epoch: int
    losses: tuple[tuple[float, ...], ...]
    validation_losses: tuple[tuple[float, ...], ...]
    best_losses: tuple[float | None, ...]
    waited: tuple[int, ...]
    trained: tuple[int, ...]
    stopped: tuple[bool, ...]
    best: Mapping[str, Tensor]

    @classmethod
    def fresh(cls, n_members: int) -> TrainingState:
        """The state before the first epoch."""
        n = n_members
        return cls(0, (), (), (None,) * n, (0,) * n, (0,) * n, (False,) * n, {})

    @property
    def all_stopped(self) -> bool:
        """Whether no member is trained any longer."""
        return all(self.stopped)

    def after_epoch(self, losses: Sequence[float]) -> TrainingState:
        """The state one epoch later."""
        return replace(
            self,
            epoch=self.epoch + 1,
            losses=(*self.losses, tuple(losses)),
            trained=tuple(
                n + (not stopped) for n, stopped in zip(self.trained, self.stopped, strict=True)
            ),
        )

    def judged(
        self, losses: Sequence[float], weights: Mapping[str, Tensor], patience: int | None
    ) -> TrainingState:
        """The state with an epoch's validation losses; members that improved keep its weights."""
        best, waited, stopped, improved = [], [], [], []
        for member, loss in enumerate(losses):
            before = self.best_losses[member]
            better = not self.stopped[member] and (before is None or loss < before)
            improved.append(better)
            best.append(loss if better else before)
            waited.append(0 if better else self.waited[member] + 1)
            stopped.append(
                self.stopped[member] or (patience is not None and waited[member] >= patience)
            )
        return replace(
            self,
            validation_losses=(*self.validation_losses, tuple(losses)),
            best_losses=tuple(best),
            waited=tuple(waited),
            stopped=tuple(stopped),
            best={
                name: _chosen(value, self.best.get(name), improved)
                for name, value in weights.items()
            },
        )

    def history(self, member: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Training and validation losses of a member, up to where it stopped."""
        last = self.trained[member]
        losses = tuple(epoch[member] for epoch in self.losses[:last])
        return losses, tuple(epoch[member] for epoch in self.validation_losses[:last])


def _chosen(new: Tensor, old: Tensor | None, improved: Sequence[bool]) -> Tensor:
    """New values for the members that improved, old ones for the others."""
    if old is None or not new.ndim:
        return new.detach().clone()
    n = len(improved)
    mask = torch.tensor(improved, device=new.device)[:, None]
    kept = old.to(new.device).reshape(n, -1)
    chosen = torch.where(mask, new.detach().reshape(n, -1), kept)
    return chosen.reshape(new.shape)


@dataclass(frozen=True)
class Checkpoint:
    """A file with the state of one unit.

    Attributes
    ----------
    path : Path
        The file, a ``.safetensors``.
    fingerprint : str
        Tells runs apart: a state is only taken up by the run that it belongs to.
    """

    path: Path
    fingerprint: str

    def write(
        self, module: nn.Module, optimizer: torch.optim.Optimizer, state: TrainingState
    ) -> None:
        """Replace the file in one step."""
        tensors = {f"module.{name}": value for name, value in module.state_dict().items()}
        tensors |= {f"best.{name}": value for name, value in state.best.items()}
        for place, values in optimizer.state_dict()["state"].items():
            tensors |= {
                f"optimizer.{place}.{name}": value
                for name, value in values.items()
                if isinstance(value, Tensor)
            }
        fields = asdict(replace(state, best={}))
        del fields["best"]
        write_tensors(self.path, tensors, _KIND, {"fingerprint": self.fingerprint, "state": fields})

    def read(
        self, module: nn.Module, optimizer: torch.optim.Optimizer, n_members: int
    ) -> TrainingState | None:
        """Load module and optimiser, and return the state; None if there is no file."""
        if not self.path.exists():
            return None
        tensors, metadata = read_tensors(self.path, _KIND)
        if metadata.get("fingerprint") != self.fingerprint:
            raise FileFormatError(
                f"{self.path}: this checkpoint is of another run (other data, codebook or "
                "settings). Use another folder, or delete it."
            )
        try:
            state = _state_of(metadata["state"], _named(tensors, "best."), n_members)
            _check_best(state, module)
            module.load_state_dict(_named(tensors, "module."))
            optimizer.load_state_dict(_with_state(optimizer, _named(tensors, "optimizer.")))
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise FileFormatError(f"{self.path}: not a whole checkpoint: {error}.") from error
        return state


def _named(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _with_state(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    state = optimizer.state_dict()
    state["state"] = {}
    trained = [value for group in optimizer.param_groups for value in group["params"]]
    for name, value in tensors.items():
        place, _, key = name.partition(".")
        if value.ndim and value.shape != trained[int(place)].shape:
            raise ValueError(f"{name} has the form {tuple(value.shape)}")
        state["state"].setdefault(int(place), {})[key] = value
    return state


def _check_best(state: TrainingState, module: nn.Module) -> None:
    if not state.best:
        return
    expected = {name: value.shape for name, value in module.state_dict().items()}
    if {name: value.shape for name, value in state.best.items()} != expected:
        raise ValueError("its best weights are not those of this network")


def _state_of(fields: Mapping[str, Any], best: Mapping[str, Tensor], n: int) -> TrainingState:
    epochs = check_int("epoch", fields["epoch"], minimum=0)
    state = TrainingState(
        epochs,
        tuple(tuple(check_number("a loss", v) for v in epoch) for epoch in fields["losses"]),
        tuple(
            tuple(check_number("a loss", v) for v in epoch) for epoch in fields["validation_losses"]
        ),
        tuple(None if v is None else check_number("a loss", v) for v in fields["best_losses"]),
        tuple(check_int("waited", v, minimum=0) for v in fields["waited"]),
        tuple(check_int("trained", v, minimum=0, maximum=epochs) for v in fields["trained"]),
        tuple(bool(value) for value in fields["stopped"]),
        best,
    )
    of_members = (
        *(state.best_losses, state.waited, state.trained, state.stopped),
        *(*state.losses, *state.validation_losses),
    )
    if any(len(values) != n for values in of_members):
        raise ValueError(f"it has {len(state.stopped)} members, not {n}")
    if len(state.losses) != epochs or len(state.validation_losses) not in {0, epochs}:
        raise ValueError("its epochs and losses do not agree")
    if state.validation_losses and not best:
        raise ValueError("it has no best weights")
    return state


@dataclass(frozen=True)
class CheckpointFolder:
    """A folder with the checkpoints of one run.

    Attributes
    ----------
    path : Path
        The folder.
    fingerprint : str
        Of the run, see :class:`Checkpoint`.
    """

    path: Path
    fingerprint: str

    def checkpoint(self, name: str) -> Checkpoint:
        """The checkpoint of one unit."""
        return Checkpoint(self.path / f"{name}.safetensors", self.fingerprint)

    def open(self, seed: int) -> None:
        """Make the folder, and note the seed; refuse one that belongs to another run."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileFormatError(f"{self.path}: cannot be made: {error.strerror}.") from error
        stored = _read_run(self.path)
        if stored is None:
            text = json.dumps({"seed": seed, "fingerprint": self.fingerprint})
            write_atomically(self.path / _RUN, text.encode())
        elif stored[1] != self.fingerprint:
            raise FileFormatError(
                f"{self.path}: these checkpoints are of another run (other data, codebook or "
                "settings). Use another folder, or delete it."
            )


def stored_seed(folder: Path) -> int | None:
    """The seed of the run whose checkpoints a folder has, if any."""
    stored = _read_run(folder)
    return None if stored is None else stored[0]


def _read_run(folder: Path) -> tuple[int, str] | None:
    path = folder / _RUN
    if not path.exists():
        return None
    data = read_bytes(path)
    try:
        record = parse_json(data)
        return check_int("seed", record["seed"], minimum=0), str(record["fingerprint"])
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path}: not the record of a run: {error}") from error
