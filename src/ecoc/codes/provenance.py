"""How a codebook was made: a method, its parameters and its seed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ecoc._checks import check_int
from ecoc.errors import InvalidInputError

__all__ = ["Provenance", "check_plain"]

MAX_PROVENANCE_DEPTH = 20


@dataclass(frozen=True)
class Provenance:
    """How a codebook was made.

    Parameters
    ----------
    method : str
        What made it, for example ``"dense-random"``.
    parameters : mapping, optional
        What the method was given. Plain values only (text, finite numbers, booleans,
        None, and lists and mappings of these), because it travels in JSON files.
    seed : int, optional
        The seed that makes it again; None where there was no randomness or no seed.

    Examples
    --------
    >>> Provenance("dense-random", {"n_candidates": 10_000}, seed=0)
    Provenance(method='dense-random', parameters={'n_candidates': 10000}, seed=0)
    """

    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or not self.method:
            raise InvalidInputError(f"method must be a text, not {self.method!r}.")
        check_plain("method", self.method)
        check_plain("parameters", self.parameters)
        if not isinstance(self.parameters, Mapping):
            raise InvalidInputError(f"parameters must be a mapping, not {self.parameters!r}.")
        object.__setattr__(self, "parameters", dict(self.parameters))
        if self.seed is not None:
            object.__setattr__(self, "seed", check_int("seed", self.seed, minimum=0))


def check_plain(name: str, value: object, *, depth: int = 0) -> None:
    """Check that `value` can be written to JSON and read back unchanged."""
    if depth > MAX_PROVENANCE_DEPTH:
        raise InvalidInputError(
            f"{name} must not be nested deeper than {MAX_PROVENANCE_DEPTH} levels."
        )
    if value is None or isinstance(value, bool | int):
        return
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise InvalidInputError(f"{name} must be valid Unicode text, not {value!r}.")
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInputError(f"{name} must be finite, not {value}.")
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInputError(f"{name} must have text as keys, not {key!r}.")
            check_plain(f"{name} key", key, depth=depth + 1)
            check_plain(f"{name}[{key!r}]", item, depth=depth + 1)
        return
    if isinstance(value, list | tuple):
        for i, item in enumerate(value):
            check_plain(f"{name}[{i}]", item, depth=depth + 1)
        return
    raise InvalidInputError(
        f"{name} must be text, a number, a boolean, None, or a list or mapping of these, "
        f"not {type(value).__name__}."
    )
