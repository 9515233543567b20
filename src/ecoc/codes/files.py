"""Reading and writing codebook files: JSON, CSV and NPZ, never pickle.

Reading checks everything before it builds anything, and raises a
:class:`~ecoc.errors.FileFormatError` that names the place. Writing is atomic: whoever
reads the file sees the old one or the new one, and a crash leaves the old one whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecoc._files import PathLike, read_bytes, source_name, write_output
from ecoc.codes import _formats
from ecoc.codes.codebook import Codebook
from ecoc.codes.figures import differences
from ecoc.errors import FileFormatError, InvalidInputError, VerificationError

__all__ = ["CodebookFile", "read_codebook", "read_file", "write_codebook", "write_file"]


@dataclass(frozen=True)
class CodebookFile:
    """What a codebook file holds.

    Attributes
    ----------
    codebook : Codebook
        The codebook.
    figures : mapping
        The key figures stored with it; empty for formats that have no room for them.
    certificate : mapping or None
        What is claimed and proved about it (see ``docs/file-format.md``), as plain data.
    """

    codebook: Codebook
    figures: Mapping[str, Any]
    certificate: Mapping[str, Any] | None = None


def read_codebook(path: PathLike, *, allow_repeated_columns: bool = False) -> Codebook:
    """Read a codebook from a ``.json``, ``.csv`` or ``.npz`` file.

    Parameters
    ----------
    path : str or path
        The file; ``"-"`` reads standard input and finds out its format.
    allow_repeated_columns : bool, default=False
        Accept equal or complementary columns even if the file does not say that they
        are meant.

    Raises
    ------
    FileFormatError
        If the file is missing, malformed or not a codebook.
    VerificationError
        If a stored figure differs from what the matrix says.
    """
    return read_file(path, allow_repeated_columns=allow_repeated_columns).codebook


def read_file(path: PathLike, *, allow_repeated_columns: bool = False) -> CodebookFile:
    """Read a codebook file with the figures and the certificate stored in it.

    The parameters and errors are those of :func:`read_codebook`.
    """
    name = os.fspath(path)
    data = read_bytes(name)
    read = _FORMATS[_sniff(data) if name == "-" else _suffix(name)].read
    where = source_name(name)
    try:
        parsed = read(data, allow_repeated_columns)
    except InvalidInputError as error:
        raise FileFormatError(f"{where}: {error}") from error
    except FileFormatError as error:
        raise FileFormatError(f"{where}: {error}") from error.__cause__
    found = CodebookFile(parsed.codebook, parsed.figures, parsed.certificate)
    wrong = differences(found.figures, found.codebook)
    if wrong:
        raise VerificationError(where, wrong)
    return found


def write_codebook(codebook: Codebook, path: PathLike) -> None:
    """Write a codebook to a ``.json``, ``.csv`` or ``.npz`` file, by its suffix.

    ``"-"`` writes JSON to standard output. CSV keeps the matrix and the labels only.

    Examples
    --------
    >>> import tempfile
    >>> from ecoc.codes import one_vs_one
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_codebook(one_vs_one(4), f"{folder}/code.json")
    ...     read_codebook(f"{folder}/code.json") == one_vs_one(4)
    True
    """
    write_file(codebook, path)


def write_file(
    codebook: Codebook, path: PathLike, *, certificate: Mapping[str, Any] | None = None
) -> None:
    """Write a codebook with a certificate, as plain data, where the format has room for one."""
    name = os.fspath(path)
    suffix = ".json" if name == "-" else _suffix(name)
    write_output(name, to_bytes(codebook, suffix, certificate=certificate))


def to_bytes(
    codebook: Codebook, suffix: str, *, certificate: Mapping[str, Any] | None = None
) -> bytes:
    """A codebook in the format of a file suffix."""
    return _FORMATS[suffix].write(codebook, certificate)


@dataclass(frozen=True)
class _Format:
    read: Callable[[bytes, bool], _formats.Parsed]
    write: Callable[[Codebook, Mapping[str, Any] | None], bytes]


_FORMATS = {
    ".json": _Format(_formats.read_json, _formats.write_json),
    ".csv": _Format(_formats.read_csv, _formats.write_csv),
    ".npz": _Format(_formats.read_npz, _formats.write_npz),
}


def _suffix(name: str) -> str:
    suffix = Path(name).suffix.lower()
    if suffix not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise FileFormatError(f"{name}: the name must end in one of {known}, not {suffix!r}.")
    return suffix


def _sniff(data: bytes) -> str:
    if data.startswith(b"PK"):
        return ".npz"
    return ".json" if data.lstrip()[:1] == b"{" else ".csv"
