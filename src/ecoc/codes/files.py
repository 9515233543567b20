"""Reading and writing codebook files: JSON, CSV and NPZ, never pickle.

Reading checks everything before it builds anything, and raises a
:class:`~ecoc.errors.FileFormatError` that names the place. Writing is atomic: whoever
reads the file sees the old one or the new one, and a crash leaves the old one whole.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import counted
from ecoc._files import (
    MAX_ENTRIES,
    PathLike,
    decode_text,
    parse_json,
    read_arrays,
    read_bytes,
    source_name,
    write_output,
)
from ecoc.codes.codebook import Codebook, Provenance
from ecoc.codes.measures import differences, key_figures
from ecoc.codes.validation import check_plain, check_symbols, parse_rows
from ecoc.errors import FileFormatError, InvalidInputError, VerificationError

__all__ = ["CodebookFile", "read_codebook", "read_file", "write_codebook", "write_file"]

FORMAT = "ecoc-codebook"
VERSION = 1
_KEYS = {
    "format",
    "version",
    "name",
    "labels",
    "provenance",
    "allow_repeated_columns",
    "n_symbols",
    "matrix",
    "figures",
    "certificate",
}


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
        Accept columns that are the same as others even if the file does not say that they
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
    contents = CodebookFile(parsed.codebook, parsed.figures, parsed.certificate)
    wrong = differences(contents.figures, contents.codebook)
    if wrong:
        raise VerificationError(where, wrong)
    return contents


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


@dataclass(frozen=True)
class Parsed:
    """The content of a file, checked."""

    codebook: Codebook
    figures: Mapping[str, Any] = field(default_factory=dict)
    certificate: Mapping[str, Any] | None = None


# ---------------------------------------------------------------------- JSON


def write_json(codebook: Codebook, certificate: Mapping[str, Any] | None) -> bytes:
    """A codebook as a JSON document, a line for each row of the matrix."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        **_metadata(codebook, certificate),
        "matrix": list(codebook.rows),
    }
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def read_json(data: bytes, allow_repeated_columns: bool) -> Parsed:
    """Read and check a JSON document."""
    document = parse_json(data)
    if not isinstance(document, dict):
        raise FileFormatError(f"the top level must be an object, not {_kind(document)}.")
    if document.get("format") != FORMAT:
        raise FileFormatError(f"format must be {FORMAT!r}, not {document.get('format')!r:.80}.")
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        raise FileFormatError(
            f"version must be {VERSION}, not {version!r:.80}; a newer ecoc may read this file."
        )
    rows = document.get("matrix")
    if not isinstance(rows, list):
        raise FileFormatError("matrix must be a list of rows such as '+-+0'.")
    if sum(len(row) for row in rows if isinstance(row, str)) > MAX_ENTRIES:
        raise FileFormatError(f"matrix has more than {MAX_ENTRIES} entries.")
    return _assemble(parse_rows(rows, _n_symbols(document)), document, allow_repeated_columns)


def _metadata(codebook: Codebook, certificate: Mapping[str, Any] | None) -> dict[str, Any]:
    """Everything about a codebook that is not its matrix, as plain data."""
    provenance = codebook.provenance
    return {
        "name": codebook.name,
        "labels": None if codebook.labels is None else list(codebook.labels),
        "provenance": None
        if provenance is None
        else {
            "method": provenance.method,
            "parameters": provenance.parameters,
            "seed": provenance.seed,
        },
        "allow_repeated_columns": codebook.allow_repeated_columns,
        # Two symbols are what a file has that says nothing of them.
        **({"n_symbols": codebook.n_symbols} if codebook.n_symbols > 2 else {}),
        "figures": key_figures(codebook),
        "certificate": certificate,
    }


def _assemble(
    matrix: npt.NDArray[Any], metadata: Mapping[str, Any], allow_repeated_columns: bool
) -> Parsed:
    """Check the metadata and build the codebook from it."""
    unknown = sorted(set(metadata) - _KEYS)
    if unknown:
        raise FileFormatError(f"unknown key {unknown[0]!r:.80}; known are {', '.join(_KEYS)}.")
    for key, value in metadata.items():
        check_plain(key, value)
    labels = _typed(metadata, "labels", list, "a list")
    name = _typed(metadata, "name", str, "a text")
    meant = _typed(metadata, "allow_repeated_columns", bool, "true or false")
    codebook = Codebook(
        matrix,
        n_symbols=_n_symbols(metadata),
        labels=None if labels is None else tuple(labels),
        name=name,
        provenance=_provenance(_typed(metadata, "provenance", dict, "an object")),
        allow_repeated_columns=bool(meant) or allow_repeated_columns,
    )
    return Parsed(
        codebook,
        _typed(metadata, "figures", dict, "an object") or {},
        _typed(metadata, "certificate", dict, "an object"),
    )


def _typed(metadata: Mapping[str, Any], key: str, kind: type, wanted: str) -> Any:
    value = metadata.get(key)
    if value is not None and type(value) is not kind:
        raise FileFormatError(f"{key} must be {wanted} or null, not {_kind(value)}.")
    return value


def _n_symbols(metadata: Mapping[str, Any]) -> int:
    n_symbols = _typed(metadata, "n_symbols", int, "a whole number")
    return 2 if n_symbols is None else check_symbols(n_symbols)


def _provenance(value: dict[str, Any] | None) -> Provenance | None:
    if value is None:
        return None
    unknown = sorted(set(value) - {"method", "parameters", "seed"})
    if unknown:
        raise FileFormatError(f"unknown key {unknown[0]!r:.80} in provenance.")
    return Provenance(
        value.get("method", ""), value.get("parameters") or {}, seed=value.get("seed")
    )


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a boolean"}
    return names.get(type(value), "null" if value is None else "a number")


# ----------------------------------------------------------------------- CSV

_ENTRIES = {
    text: value
    for value, texts in {
        1: ("1", "+1", "+", "1.0"),
        -1: ("-1", "-", "-1.0"),
        0: ("0", "0.0"),
    }.items()
    for text in texts
}
_HEADER = re.compile(r"f[0-9]+:([0-9]{1,3})")
"""A column of a code of more than two symbols, and how many."""


def write_csv(codebook: Codebook, certificate: Mapping[str, Any] | None) -> bytes:
    """A codebook as CSV: a header, then a line for each class, its label first if it has one.

    The header of a code of q > 2 symbols has ``:q`` after the name of each column.
    """
    del certificate  # CSV has no room for it
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    symbols = f":{codebook.n_symbols}" if codebook.n_symbols > 2 else ""
    header = [f"f{j + 1}{symbols}" for j in range(codebook.n_columns)]
    labels = codebook.labels
    writer.writerow(header if labels is None else ["class", *header])
    for i, row in enumerate(codebook.matrix.tolist()):
        writer.writerow(row if labels is None else [labels[i], *row])
    return stream.getvalue().encode()


def read_csv(data: bytes, allow_repeated_columns: bool) -> Parsed:
    """Read CSV with or without a header and a first column ``class``."""
    text = decode_text(data)
    lines: list[list[int]] = []
    labels: list[str] | None = None
    n_symbols = 2
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            if not cells:
                continue
            if reader.line_num == 1 and not all(cell.strip() in _ENTRIES for cell in cells):
                labels = [] if cells[0].strip().lower() == "class" else None
                n_symbols = _csv_symbols(cells if labels is None else cells[1:])
                continue
            if labels is not None:
                labels.append(cells.pop(0))
            lines.append(_csv_entries(cells, n_symbols, reader.line_num))
            if len(lines[-1]) != len(lines[0]):
                raise FileFormatError(
                    f"line {reader.line_num} has {counted(len(lines[-1]), 'entry', 'entries')}, "
                    f"the first has {len(lines[0])}."
                )
    except csv.Error as error:
        raise FileFormatError(f"not valid CSV: {error} (line {reader.line_num}).") from error
    if not lines:
        raise FileFormatError("no rows of entries found.")
    matrix = np.array(lines, dtype=np.int8)
    metadata = {"labels": labels, "n_symbols": n_symbols}
    return _assemble(matrix, metadata, allow_repeated_columns)


def _csv_symbols(header: list[str]) -> int:
    """How many symbols a header claims: two, unless every column says another number."""
    claims = [_HEADER.fullmatch(cell.strip()) for cell in header]
    numbers = sorted({int(claim[1]) for claim in claims if claim is not None})
    if not numbers:
        return 2
    if len(numbers) > 1 or None in claims:
        raise FileFormatError(
            "line 1: the names of all columns must end in the same number of symbols, such as "
            f"f1:{numbers[0]}, or none."
        )
    return check_symbols(numbers[0])


def _csv_entries(cells: list[str], n_symbols: int, line: int) -> list[int]:
    if n_symbols == 2:
        values = _ENTRIES
        rule = "-1, 0 or 1 (or symbols, under a header such as f1:4,f2:4)"
    else:
        values = {str(symbol): symbol for symbol in range(n_symbols)}
        rule = f"whole numbers 0 to {n_symbols - 1}"
    try:
        return [values[cell.strip()] for cell in cells]
    except KeyError as error:
        raise FileFormatError(
            f"line {line}: entries must be {rule}, not {error.args[0]!r:.80}."
        ) from None


# ----------------------------------------------------------------------- NPZ


def write_npz(codebook: Codebook, certificate: Mapping[str, Any] | None) -> bytes:
    """A codebook as NPZ: the matrix, and the rest as JSON text in the array ``metadata``."""
    metadata = json.dumps(_metadata(codebook, certificate), ensure_ascii=False)
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        matrix=codebook.matrix,
        metadata=np.frombuffer(metadata.encode(), dtype=np.uint8),
    )
    return stream.getvalue()


def read_npz(data: bytes, allow_repeated_columns: bool) -> Parsed:
    """Read an NPZ file; every claim about sizes is checked before memory is taken for it."""
    arrays = read_arrays(data)
    if "matrix" not in arrays or not set(arrays) <= {"matrix", "metadata"}:
        raise FileFormatError("must hold the array 'matrix', perhaps 'metadata', and nothing else.")
    for name, n_dimensions in {"matrix": 2, "metadata": 1}.items():
        if name in arrays and arrays[name].ndim != n_dimensions:
            raise FileFormatError(
                f"{name} must have {n_dimensions} dimensions, not {arrays[name].ndim}."
            )
    metadata: Any = {}
    if "metadata" in arrays:
        if arrays["metadata"].dtype != np.uint8:
            raise FileFormatError(f"metadata must be bytes, not {arrays['metadata'].dtype}.")
        metadata = parse_json(arrays["metadata"].tobytes())
    if not isinstance(metadata, dict):
        raise FileFormatError("metadata must be a JSON object.")
    return _assemble(arrays["matrix"], metadata, allow_repeated_columns)


@dataclass(frozen=True)
class _Format:
    read: Callable[[bytes, bool], Parsed]
    write: Callable[[Codebook, Mapping[str, Any] | None], bytes]


_FORMATS = {
    ".json": _Format(read_json, write_json),
    ".csv": _Format(read_csv, write_csv),
    ".npz": _Format(read_npz, write_npz),
}
