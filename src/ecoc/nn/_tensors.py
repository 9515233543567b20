"""Files of tensors with plain data beside them: safetensors, checked on reading, no pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ecoc._checks import require
from ecoc._files import parse_json, read_bytes, write_atomically
from ecoc.errors import FileFormatError

__all__ = ["digest", "read_tensors", "write_tensors"]

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
    found = hashlib.sha256()
    for name in sorted(tensors):
        value = tensors[name].detach().cpu().contiguous()
        found.update(f"{name} {value.dtype} {tuple(value.shape)};".encode())
        found.update(value.reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()


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
        found = digest(tensors)
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
    if metadata.get("digest") != found:
        raise FileFormatError(f"{path}: the weights are not those that were written.")
    return tensors, metadata
