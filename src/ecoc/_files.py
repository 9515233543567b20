"""Files: read within limits and checked, written in one step or not at all."""

from __future__ import annotations

import io
import itertools
import json
import math
import os
import re
import secrets
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from gzip import GzipFile
from pathlib import Path
from typing import IO, Any, BinaryIO, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc.errors import FileFormatError, InvalidInputError

try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "MAX_BYTES",
    "PathLike",
    "atomic_stream",
    "check_destination",
    "check_zip",
    "decode_text",
    "gunzip",
    "parse_json",
    "read_arrays",
    "read_bytes",
    "source_name",
    "write_atomically",
    "write_output",
]

PathLike: TypeAlias = "str | os.PathLike[str]"

MAX_BYTES = 1 << 28
"""The largest file that is read, 256 MiB, where nothing else is said."""

_CHUNK = 1 << 20

MAX_DEPTH = 100
"""The deepest nesting of a JSON document; what walks through it may recurse."""

MAX_ENTRIES = 1 << 27
"""The most entries of an array that are accepted from a file."""


# -------------------------------------------------------------------- reading


def source_name(path: PathLike) -> str:
    """What a file is called in messages."""
    name = os.fspath(path)
    return "standard input" if name == "-" else name


def read_bytes(path: PathLike, *, max_bytes: int | None = None) -> bytes:
    """The content of a file, or of standard input for ``"-"``.

    Raises
    ------
    FileFormatError
        If it cannot be read, or is larger than `max_bytes`, or :data:`MAX_BYTES`.
    """
    limit = MAX_BYTES if max_bytes is None else max_bytes
    name = os.fspath(path)
    try:
        if name == "-":
            data = _read_up_to(_standard_input(), limit)
        else:
            with Path(name).open("rb") as stream:
                data = _read_up_to(stream, limit)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        place = source_name(name) if name == "-" else repr(name)
        raise FileFormatError(f"{place} cannot be read: {reason}.") from error
    if data is None:
        raise FileFormatError(
            f"{source_name(name)}: larger than the {limit >> 20} MiB that are read."
        )
    return data


def _read_up_to(stream: IO[bytes] | GzipFile, limit: int) -> bytes | None:
    """All that a stream has, taking no more memory than that; None if it is above a limit."""
    chunks, size = [], 0
    while chunk := stream.read(_CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            return None
    return b"".join(chunks)


def gunzip(data: bytes, name: str, limit: int) -> bytes:
    """What a gzip file holds, which may be at most `limit` bytes.

    Raises
    ------
    FileFormatError
        If it is damaged or holds more; the message begins with the name.

    Examples
    --------
    >>> import gzip
    >>> gunzip(gzip.compress(b"0,1"), "a.csv.gz", limit=10)
    b'0,1'
    """
    try:
        with GzipFile(fileobj=io.BytesIO(data)) as stream:
            content = _read_up_to(stream, limit)
    except (EOFError, OSError, zlib.error) as error:
        raise FileFormatError(f"{name}: not a whole gzip file: {error}.") from error
    if content is None:
        raise FileFormatError(f"{name}: unpacks to more than the {limit >> 20} MiB that are read.")
    return content


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise ValueError("it is closed")
    return sys.stdin.buffer


def decode_text(data: bytes) -> str:
    r"""Bytes as text, without a byte order mark.

    Raises
    ------
    FileFormatError
        If they are not UTF-8; the message names the line.

    Examples
    --------
    >>> decode_text(b"a\n\xff")
    Traceback (most recent call last):
    ecoc.errors.FileFormatError: line 2 is not UTF-8 text (byte 2).
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileFormatError(f"line {line} is not UTF-8 text (byte {error.start}).") from error


def parse_json(data: bytes) -> Any:
    """The value of a JSON document that is safe to walk through and to write again.

    Raises
    ------
    FileFormatError
        If it is not UTF-8 or not JSON, names a key twice in one object, has a number that is
        not finite, text that is not Unicode, or is nested too deeply.

    Examples
    --------
    >>> parse_json(b'{"k": [1, 2.5, null]}')
    {'k': [1, 2.5, None]}
    >>> parse_json(b'{"k": 1, "k": 2}')
    Traceback (most recent call last):
    ecoc.errors.FileFormatError: the key 'k' stands twice in one object.
    """
    text = decode_text(data)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_not_finite,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        raise FileFormatError(
            f"not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})."
        ) from error
    except RecursionError as error:
        raise FileFormatError("not valid: nested too deeply.") from error
    except FileFormatError:
        raise
    except ValueError as error:
        # Python refuses to read integers of thousands of digits.
        raise FileFormatError(f"not valid JSON: {error}.") from error
    _check_depth_and_text(value)
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise FileFormatError(f"the key {key!r:.80} stands twice in one object.")
        members[key] = value
    return members


def _not_finite(text: str) -> NoReturn:
    raise FileFormatError(f"numbers must be finite, not {text}.")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise FileFormatError(f"numbers must be finite, not {text:.80}.")
    return value


def _check_depth_and_text(value: Any) -> None:
    level = [value]
    for depth in itertools.count():
        if depth == MAX_DEPTH and any(isinstance(item, dict | list) for item in level):
            raise FileFormatError(f"not valid: nested deeper than {MAX_DEPTH} levels.")
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += item
                inner += item.values()
            elif isinstance(item, list):
                inner += item
            elif isinstance(item, str) and not item.isascii():
                # Only halves of surrogate pairs, which escapes can write, do not encode.
                try:
                    item.encode()
                except UnicodeEncodeError as error:
                    raise FileFormatError(f"{item!r:.80} is not valid Unicode text.") from error
        if not inner:
            return
        level = inner


# --------------------------------------------------------------------- arrays

_HEADER = re.compile(
    r"\{\s*'descr':\s*'(?P<dtype>[^']{1,40})',"
    r"\s*'fortran_order':\s*(?P<fortran>True|False),"
    r"\s*'shape':\s*\((?P<shape>[0-9, ]*)\),?\s*\}\s*"
)
"""The header of an array as NumPy and others write it, a Python literal of this form."""

_DTYPE = re.compile(r"[<>=|]?[biufUS?][0-9]{0,9}")
_HEADER_LENGTH_BYTES = {b"\x01\x00": 2, b"\x02\x00": 4, b"\x03\x00": 4}
_MAX_HEADER = 10_000


def read_arrays(data: bytes, *, kinds: str = "iuf") -> dict[str, npt.NDArray[Any]]:
    """The arrays of an NPZ file; every claim about sizes is checked before memory is taken.

    Parameters
    ----------
    data : bytes
        The file.
    kinds : str
        The kinds of NumPy types that are accepted, such as ``"iuf"`` for numbers.

    Raises
    ------
    FileFormatError
        If it is not a whole NPZ file of plain arrays.

    Examples
    --------
    >>> stream = io.BytesIO()
    >>> np.savez(stream, X=np.eye(2))
    >>> read_arrays(stream.getvalue())["X"].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    >>> read_arrays(b"nonsense")
    Traceback (most recent call last):
    ecoc.errors.FileFormatError: not a valid NPZ file: File is not a zip file.
    """
    if data.startswith(b"\x93NUMPY"):
        raise FileFormatError("a single array (.npy), not an NPZ file; write it with numpy.savez.")
    arrays = {}
    with check_zip(data, "NPZ file") as archive:
        for info in archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name in arrays:
                raise FileFormatError(f"the array {name!r:.80} stands twice in it.")
            with archive.open(info) as stream:
                arrays[name] = _read_array(stream.read, f"{name:.80}", kinds)
    return arrays


@contextmanager
def check_zip(data: bytes, what: str, *, max_bytes: int = 1 << 32) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive; what goes wrong inside is told as a damaged file.

    Parameters
    ----------
    data : bytes
        The file.
    what : str
        What it should be, for messages.
    max_bytes : int
        How much it may unpack to.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            if size > max_bytes:
                raise FileFormatError(f"unpacks to {size:,} bytes, more than are read.")
            if any(
                member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
                for member in members
            ):
                raise FileFormatError(f"not a valid {what}: packed in a way that is not read.")
            yield archive
    except FileFormatError:
        raise
    # A broken archive raises about ten kinds of errors, and the library names none of them.
    except Exception as error:
        raise FileFormatError(f"not a valid {what}: {error}.") from error


def _read_array(read: Callable[[int], bytes], name: str, kinds: str) -> npt.NDArray[Any]:
    shape, fortran_order, dtype = _read_header(read, name)
    if dtype is None or dtype.kind not in kinds:
        what = "numbers" if kinds == "iuf" else "values"
        raise FileFormatError(f"{name} must be an array of plain {what}, not {dtype or 'objects'}.")
    count = math.prod(shape)
    if count > MAX_ENTRIES or count * dtype.itemsize > 8 * MAX_ENTRIES:
        raise FileFormatError(f"{name} claims {count} entries, more than {MAX_ENTRIES}.")
    body = read(count * dtype.itemsize + 1)
    if len(body) != count * dtype.itemsize:
        raise FileFormatError(f"{name} claims {count} entries, which is not what the file has.")
    array: npt.NDArray[Any] = np.frombuffer(body, dtype=dtype, count=count)
    return array.reshape(shape, order="F" if fortran_order else "C")


def _read_header(
    read: Callable[[int], bytes], name: str
) -> tuple[tuple[int, ...], bool, np.dtype[Any] | None]:
    """Shape, order and type of an array; no type if it is not a plain one."""
    head = read(8)
    size = read(_HEADER_LENGTH_BYTES.get(head[6:], 0))
    length = int.from_bytes(size, "little")
    form = None
    if head.startswith(b"\x93NUMPY") and 0 < length <= _MAX_HEADER:
        form = _HEADER.fullmatch(read(length).decode("latin-1"))
    if form is None:
        raise FileFormatError(f"{name} is not a valid array.")
    words = [word.strip() for word in form["shape"].removesuffix(",").split(",") if form["shape"]]
    # An empty array may claim any other length, and NumPy has a limit of dimensions.
    if len(words) > 32 or not all(word.isdigit() and len(word) <= 18 for word in words):
        raise FileFormatError(f"{name} is not a valid array.")
    shape = tuple(map(int, words))
    if 0 in shape and max(shape) > MAX_ENTRIES:
        raise FileFormatError(f"{name} is not a valid array.")
    dtype = None
    if _DTYPE.fullmatch(form["dtype"]):
        with suppress(TypeError, ValueError):  # no such type
            dtype = np.dtype(form["dtype"])
    dtype = dtype if dtype is not None and dtype.itemsize else None
    return shape, form["fortran"] == "True", dtype


# -------------------------------------------------------------------- writing


def check_destination(path: PathLike, suffixes: Sequence[str] = ()) -> None:
    """Check that a file can be written, before the work for it begins.

    Parameters
    ----------
    path : str or path
        The file.
    suffixes : sequence of str
        What its name may end in, and ``"-"`` if it may be standard output; empty for anything.

    Raises
    ------
    InvalidInputError
        If the name ends in something else, names a folder, or nothing can be written there.

    Examples
    --------
    >>> check_destination("model.pkl", [".skops"])
    Traceback (most recent call last):
    ecoc.errors.InvalidInputError: model.pkl: the name must end in .skops, not '.pkl'.
    """
    name = os.fspath(path)
    if name == "-" and (not suffixes or "-" in suffixes):
        return
    suffix = Path(name).suffix.lower()
    if suffixes and suffix not in suffixes:
        *others, last = (known for known in suffixes if known != "-")
        known = " or ".join([*([", ".join(others)] if others else []), last])
        raise InvalidInputError(f"{name}: the name must end in {known}, not {suffix!r}.")
    try:
        target = _resolved(name)
        if target.is_dir():
            raise InvalidInputError(f"{name}: is a folder; give the name of a file.")
        if not target.parent.is_dir():
            raise InvalidInputError(f"The folder of {name} does not exist.")
        if target.exists() and not target.is_file():
            if not os.access(target, os.W_OK):
                raise PermissionError(0, "permission denied")
        else:
            with _temporary(target):
                pass
    except OSError as error:
        raise InvalidInputError(f"{name}: cannot be written: {_reason(error)}.") from error


def write_output(path: PathLike, data: bytes) -> None:
    """Write bytes to a file in one step, or to standard output for ``"-"``."""
    if os.fspath(path) != "-":
        write_atomically(path, data)
        return
    sys.stdout.flush()
    # What replaces standard output, in a notebook for example, may take text only.
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode())
    else:
        buffer.write(data)
    sys.stdout.flush()


def write_atomically(path: PathLike, data: bytes) -> None:
    """Write bytes to a file that is replaced in one step, or not at all."""
    with atomic_stream(path) as stream:
        stream.write(data)


@contextmanager
def atomic_stream(path: PathLike) -> Iterator[BinaryIO]:
    """A stream whose bytes become the file in one step at the end, or not at all.

    What an earlier process left of the same file when it was killed is removed.

    Raises
    ------
    FileFormatError
        If the file cannot be written; an old one is still there then.
    """
    try:
        target = _resolved(path)
        if target.exists() and not target.is_file():
            # A pipe or a device cannot be replaced.
            with target.open("wb") as stream:
                yield stream
            return
        _remove_leftovers(target)
        with _temporary(target) as (stream, temporary):
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            if fcntl is None:
                stream.close()
            temporary.replace(target)
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be written: {_reason(error)}.") from error


def _resolved(path: PathLike) -> Path:
    try:
        return Path(path).resolve()
    except (RuntimeError, ValueError) as error:  # links in a circle, or a byte 0
        raise OSError(str(error)) from error


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


@contextmanager
def _temporary(target: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file beside another, locked against removal and gone at the end."""
    stream, temporary = _locked_new_file(target)
    try:
        yield stream, temporary
    finally:
        # Its last bytes may not find room on the disk; they are not wanted then.
        with suppress(OSError):
            stream.close()
        temporary.unlink(missing_ok=True)


def _locked_new_file(target: Path) -> tuple[BinaryIO, Path]:
    while True:
        temporary = target.with_name(f"{_leftover_start(target)}{secrets.token_hex(4)}.tmp")
        stream = temporary.open("xb")
        if fcntl is None:
            return stream, temporary
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass  # somebody takes it for a leftover just now
        except OSError:
            return stream, temporary  # nobody can lock here, so nobody removes it
        else:
            if os.fstat(stream.fileno()).st_nlink:
                return stream, temporary
        stream.close()


def _leftover_start(target: Path) -> str:
    return f".{target.name[:100]}."


def _remove_leftovers(target: Path) -> None:
    """Remove what killed processes left of a file; those at work hold a lock."""
    if fcntl is None:
        return
    pattern = re.compile(re.escape(_leftover_start(target)) + r"[0-9a-f]{8}\.tmp")
    for leftover in target.parent.iterdir():
        if not pattern.fullmatch(leftover.name):
            continue
        with suppress(OSError), leftover.open("r+b") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            leftover.unlink()
