"""Small whole-number arrays as text, for the pictures in records."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int
from ecoc.errors import FileFormatError

__all__ = ["pack", "unpack"]

MAX_ENTRIES = 50_000_000
MAX_DIMENSIONS = 8


def pack(values: npt.ArrayLike) -> dict[str, Any]:
    """Write an array of values 0 to 255 as compressed text.

    Examples
    --------
    >>> packed = pack([[0, 1], [2, 3]])
    >>> packed["shape"], unpack(packed).tolist()
    ([2, 2], [[0, 1], [2, 3]])
    """
    array = np.asarray(values).astype(np.uint8)
    text = base64.b64encode(zlib.compress(array.tobytes(), 9)).decode("ascii")
    return {"shape": list(array.shape), "bytes": text}


def unpack(packed: Mapping[str, Any]) -> npt.NDArray[np.uint8]:
    """The array that was packed."""
    try:
        shape = tuple(check_int("shape", size, minimum=0) for size in packed["shape"])
        size = math.prod(shape)
        if size > MAX_ENTRIES or len(shape) > MAX_DIMENSIONS:
            raise ValueError("too large")
        # One byte more than expected tells a stream that goes on.
        data = zlib.decompressobj().decompress(base64.b64decode(packed["bytes"]), size + 1)
        return np.frombuffer(data, dtype=np.uint8).reshape(shape)
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise FileFormatError(f"no packed array: {error}") from error
