"""Files are replaced in one step, and what a kill leaves is removed by the next write."""

import io
import json
import signal
import subprocess
import sys
import threading
import zipfile

import pytest

from ecoc._files import (
    MAX_DEPTH,
    atomic_stream,
    check_destination,
    parse_json,
    read_arrays,
    read_bytes,
    write_atomically,
)
from ecoc.errors import FileFormatError, InvalidInputError

pytest.importorskip("fcntl")

KILLED = """
import os, signal, sys
from ecoc._files import write_atomically
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
write_atomically(sys.argv[1], b"never whole")
"""


def leftovers(folder):
    return sorted(path.name for path in folder.glob(".*.tmp"))


def test_a_kill_leaves_the_old_file_and_the_next_write_cleans_up(tmp_path):
    path = tmp_path / "design.json"
    path.write_bytes(b"old")
    result = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert result.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert len(leftovers(tmp_path)) == 1
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert leftovers(tmp_path) == []


def test_what_is_no_leftover_of_the_file_stays(tmp_path):
    names = [
        ".a.json.tmp",
        ".a.json.12345678.tmp.old",
        ".b.json.12345678.tmp",
        "a.json.12345678.tmp",
    ]
    for name in names:
        (tmp_path / name).write_bytes(b"mine")
    (tmp_path / ".a.json.12345678.tmp").write_bytes(b"left")
    write_atomically(tmp_path / "a.json", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, "a.json"])


def test_a_file_that_another_run_writes_is_not_taken_for_a_leftover(tmp_path):
    path = tmp_path / "model.skops"
    with atomic_stream(path) as stream:
        stream.write(b"first")
        write_atomically(path, b"second")
        assert path.read_bytes() == b"second"
        check_destination(path)
    assert path.read_bytes() == b"first"
    assert leftovers(tmp_path) == []


def test_many_writers_of_one_file(tmp_path):
    path = tmp_path / "run.json"
    errors = []

    def write(text):
        try:
            for _ in range(100):
                write_atomically(path, text)
        except FileFormatError as error:
            errors.append(error)

    texts = [bytes([65 + number]) * 1000 for number in range(4)]
    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert path.read_bytes() in texts
    assert leftovers(tmp_path) == []


def test_an_error_while_writing_leaves_the_old_file(tmp_path):
    path = tmp_path / "program.mps"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), atomic_stream(path) as stream:
        stream.writelines([b"half", None])
    assert path.read_bytes() == b"old"
    assert leftovers(tmp_path) == []


def test_the_check_of_a_destination_leaves_nothing(tmp_path):
    check_destination(tmp_path / "a.json", [".json"])
    check_destination("/dev/null")
    check_destination("-", ["-", ".json"])
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidInputError, match=r"must end in .json or .npz, not ''"):
        check_destination("-", [".json", ".npz"])
    with pytest.raises(InvalidInputError, match="is a folder"):
        check_destination(tmp_path)


def test_limits_of_reading(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bytes(path, max_bytes=5) == b"12345"
    with pytest.raises(FileFormatError, match="larger than"):
        read_bytes(path, max_bytes=4)
    with pytest.raises(FileFormatError, match="larger than the 1 MiB"):
        read_bytes("/dev/zero", max_bytes=1 << 20)


def test_depth_of_json():
    deep = json.loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert parse_json(json.dumps(deep).encode()) == deep
    with pytest.raises(FileFormatError, match="nested deeper than"):
        parse_json(json.dumps([deep]).encode())
    with pytest.raises(FileFormatError, match="valid Unicode"):
        parse_json(b'{"\\ud800": 1}')


@pytest.mark.parametrize("shape", ["9" * 5000, "1, " * 3000, "1 2", ",", "1,,2", "9" * 18 + ",) ("])
def test_shapes_that_are_none_are_refused_at_once(shape):
    header = f"{{'descr': '|i1', 'fortran_order': False, 'shape': ({shape}), }}".encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        length = len(header).to_bytes(2, "little")
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + length + header)
    with pytest.raises(FileFormatError, match="x is not a valid array"):
        read_arrays(stream.getvalue())


def test_a_single_array_is_named():
    with pytest.raises(FileFormatError, match=r"single array \(.npy\), not an NPZ file"):
        read_arrays(b"\x93NUMPY\x01\x00")
