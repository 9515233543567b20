"""What a measurement ran on: versions and hardware."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from ecoc._version import __version__

__all__ = ["hardware", "versions"]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "highspy", "torch")


@cache
def versions() -> dict[str, str]:
    """The versions of ecoc, Python, and the libraries that results depend on.

    Examples
    --------
    >>> sorted(versions())[:2]
    ['ecoc', 'highspy']
    """
    found = {"ecoc": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@cache
def hardware() -> dict[str, str | int]:
    """The processor, its cores, the memory and the system, as far as they are told.

    Examples
    --------
    >>> hardware()["cores"] >= 1
    True
    """
    found: dict[str, str | int] = {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
    }
    with suppress(AttributeError, ValueError, OSError):  # not on every system
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        found["memory_gib"] = round(size / 2**30)
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"
