"""Names for the types of arrays that the whole package shares."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Entries", "Floats", "Ints", "Ints32", "Signs"]

Bools: TypeAlias = npt.NDArray[np.bool_]
Entries: TypeAlias = npt.NDArray[np.int8]
"""Entries of a codebook: +1, -1 and 0, or the symbols 0, 1, and so on."""
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Ints32: TypeAlias = npt.NDArray[np.int32]
Signs: TypeAlias = npt.NDArray[np.int8]
"""Entries +1, -1 and 0."""
