import io
import json
import os
import random
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tests.strategies import any_codebooks

from ecoc import _files
from ecoc.codes import (
    Codebook,
    dense_random,
    digits,
    files,
    one_vs_one,
    read_codebook,
    write_codebook,
)
from ecoc.codes.files import read_file, write_file
from ecoc.errors import EcocError, FileFormatError, VerificationError

FORMATS = [".json", ".csv", ".npz"]
ONE_VS_ONE = one_vs_one(4)


def same_story(a, b):
    return (a.name, a.provenance) == (b.name, b.provenance)


@given(any_codebooks())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_format_gives_the_codebook_back(tmp_path, code):
    for suffix in FORMATS:
        path = tmp_path / f"code{suffix}"
        write_codebook(code, path)
        copy = read_codebook(path)
        assert copy == code
        assert suffix == ".csv" or same_story(copy, code)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_certificates_travel_as_plain_data(tmp_path, suffix):
    certificate = {"kind": "theory", "value": [1, 2, {"a": None}]}
    path = tmp_path / f"code{suffix}"
    write_file(one_vs_one(4), path, certificate=certificate)
    assert read_file(path).certificate == certificate


@pytest.mark.parametrize("suffix", FORMATS)
def test_repeated_columns_are_read_when_the_file_or_the_caller_means_it(tmp_path, suffix):
    code = Codebook([[1, 1], [-1, -1]], allow_repeated_columns=True)
    path = tmp_path / f"code{suffix}"
    write_codebook(code, path)
    assert read_codebook(path, allow_repeated_columns=True) == code
    if suffix == ".csv":
        with pytest.raises(FileFormatError, match="allow_repeated_columns=True"):
            read_codebook(path)
    else:
        assert read_codebook(path).allow_repeated_columns


@pytest.mark.parametrize("suffix", FORMATS)
def test_one_codebook_has_one_sequence_of_bytes(tmp_path, suffix):
    paths = [tmp_path / f"{i}{suffix}" for i in range(2)]
    for path in paths:
        write_codebook(dense_random(10, 20, random_state=0), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "1,-1\n-1,1\n-1,-1\n",
        "f1,f2\n+1,-1\n-1,+1\n-1,-1\n",
        "\ufeff+,-\r\n-,+\r\n-,-\r\n\r\n",
        "1.0, -1.0\n-1.0,1.0\n-1,-1",
    ],
)
def test_csv_of_other_programs_is_read(tmp_path, text):
    path = tmp_path / "code.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert read_codebook(path).rows == ("+-", "-+", "--")


def document(code=ONE_VS_ONE, **changes):
    base = json.loads(files.to_bytes(code, ".json"))
    base.update(changes)
    return json.dumps({key: value for key, value in base.items() if value is not ...})


def symbols(**changes):
    return document(digits(9, n_symbols=3), **changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not valid JSON"),
        ("[]", "top level must be an object, not a list"),
        ('{"format": "ecoc-codebook"', "line 1"),
        ("{}", "format must be 'ecoc-codebook', not None"),
        (document(version=2), "a newer ecoc may read"),
        (document(version=True), "version must be 1"),
        (document(version=1.0), "version must be 1"),
        (document(matrix=...), "matrix must be a list of rows"),
        (document(matrix="+-"), "matrix must be a list of rows"),
        (document(matrix=["+-", "-"]), "row 1 has 1"),
        (document(matrix=["+?", "-+"]), "Row 0 must hold only"),
        (document(matrix=[["+"], ["-"]]), "Row 0 must be text"),
        (document(matrix=[]), "got no rows"),
        (document(labels="abcd"), "labels must be a list or null, not a text"),
        (document(labels=["a", "b"]), "each of the 4 classes, not 2"),
        (document(labels=["a", "b", "c", ["d"]]), "labels[3] must be text"),
        (document(labels=["a", "b", "c", "\ud800"]), "valid Unicode"),
        (document(name=3), "name must be a text or null"),
        (document(name="\ud800"), "valid Unicode"),
        (document(provenance=[]), "provenance must be an object or null"),
        (document(provenance={"method": ""}), "method must be a text"),
        (document(provenance={"method": "x", "seed": 1.5}), "seed must be a whole number"),
        (document(provenance={"method": "x", "other": 1}), "unknown key 'other'"),
        (document(provenance={"method": "x", "parameters": [1]}), "parameters must be a mapping"),
        (document(allow_repeated_columns=1), "must be true or false or null, not a number"),
        (document(figures=[]), "figures must be an object"),
        (document(certificate="yes"), "certificate must be an object"),
        (document(surprise=1), "unknown key 'surprise'"),
        (document(n_symbols=3), "Row 0 must hold only the symbols '0' to '2'; got '+'"),
        (document(n_symbols="3"), "n_symbols must be a whole number or null, not a text"),
        (document(n_symbols=True), "n_symbols must be a whole number or null, not a boolean"),
        (document(n_symbols=1), "n_symbols must be at least 2"),
        (document(n_symbols=10**9), "n_symbols must be at most 127"),
        (symbols(n_symbols=...), "Row 1 must hold only '+', '-' and '0'; got '1'"),
        (symbols(n_symbols=40), "Row 0 must hold only the symbols '0' to '39' with a space"),
        ('{"format": "ecoc-codebook", "format": "ecoc-codebook"}', "'format' stands twice"),
        ('{"format": NaN}', "finite, not NaN"),
        ('{"format": -Infinity}', "finite, not -Infinity"),
        ('{"format": 1e999}', "finite, not 1e999"),
        ('{"format": ' + "9" * 5000 + "}", "not valid JSON"),
        ("[" * 10_000, "nested too deeply"),
        ('{"a":' * 10_000, "nested too deeply"),
        (document(certificate={"a": json.loads("[" * 50 + "]" * 50)}), "nested deeper than 20"),
    ],
)
def test_bad_json_is_refused_by_place(tmp_path, text, message):
    path = tmp_path / "code.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(FileFormatError) as error:
        read_codebook(path)
    assert str(path) in str(error.value)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no rows"),
        (b"\xff\xfe", "not UTF-8 text (byte 0)"),
        (b"f1,f2\n", "no rows"),
        (b"1,-1\n-1\n", "line 2 has 1 entry, the first has 2"),
        (b"1,-1\n2,1\n", "line 2: entries must be -1, 0 or 1 (or symbols, under a header such as"),
        (b"0,1,2\n1,2,0\n2,0,1\n", "line 2: entries must be -1, 0 or 1"),
        (b"f1:3,f2:3\n0,1\n1,0\n3,1\n", "line 4: entries must be whole numbers 0 to 2, not '3'"),
        (b"f1:3,f2:3\n0,1\n1,0\n+1,1\n", "not '+1'"),
        (b"f1:3,f2:4\n0,1\n1,0\n2,1\n", "line 1: the names of all columns must end in the same"),
        (b"f1:3,f2\n0,1\n1,0\n2,1\n", "line 1: the names of all columns must end in the same"),
        (b"f1:3\n0\n1\n", "at most the number of classes, 2, not 3"),
        (b"f1:999\n0\n1\n2\n", "n_symbols must be at most 127"),
        (b"1,-1\nnan,1\n", "not 'nan'"),
        (b'1,"-1\n', "not valid CSV"),
        (b"class,f1\n,1\nb,-1\n", "labels[0] must have 1 to 256 characters"),
        (b"class,f1\na,1\na,-1\n", "repeated: a"),
        (b"1,-1\n\x00,1\n", "line 2"),
        (b"1\n1\n", "lacks"),
        (b"x" * 200_000 + b"\n", "not valid CSV"),
    ],
)
def test_bad_csv_is_refused_by_place(tmp_path, data, message):
    path = tmp_path / "code.csv"
    path.write_bytes(data)
    with pytest.raises(FileFormatError) as error:
        read_codebook(path)
    assert message in str(error.value)


def archive(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(f"{name}.npy", data)
    return stream.getvalue()


def array(value):
    stream = io.BytesIO()
    np.save(stream, value, allow_pickle=True)
    return stream.getvalue()


def header(text):
    padded = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded


GOOD = np.array([[1], [-1]], dtype=np.int8)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a valid NPZ file"),
        (b"PK\x03\x04garbage", "not a valid NPZ file"),
        (archive(other=array(GOOD)), "must hold the array 'matrix'"),
        (archive(matrix=array(GOOD), other=array(GOOD)), "nothing else"),
        (archive(matrix=b"nonsense"), "matrix is not a valid array"),
        (archive(matrix=b""), "matrix is not a valid array"),
        (archive(matrix=array(GOOD)[:-1]), "which is not what the file has"),
        (archive(matrix=array(GOOD) + b"x"), "which is not what the file has"),
        (archive(matrix=array(np.array([[{}]], dtype=object))), "plain numbers, not objects"),
        (archive(matrix=array(np.array([["+"]]))), "plain numbers"),
        (archive(matrix=array(GOOD[0])), "2 dimensions, not 1"),
        (archive(matrix=array(GOOD * 3)), "3 in row 0, column 0"),
        (archive(matrix=array(GOOD * np.nan)), "nan in row 0"),
        (
            archive(
                matrix=header("{'descr': '|i1', 'fortran_order': False, 'shape': (1000000000, 9)}")
            ),
            "claims 9000000000 entries",
        ),
        (
            archive(matrix=header("{'descr': '|i1', 'fortran_order': False, 'shape': (-1, 9)}")),
            "matrix",
        ),
        (archive(matrix=header("__import__('os').getcwd()")), "matrix is not a valid array"),
        (archive(matrix=array(GOOD), metadata=array(np.zeros(3, np.uint8))), "not valid JSON"),
        (
            archive(matrix=array(GOOD), metadata=array(np.frombuffer(b"[1]", np.uint8))),
            "metadata must be a JSON object",
        ),
    ],
)
def test_bad_npz_is_refused_by_place(tmp_path, data, message):
    path = tmp_path / "code.npz"
    path.write_bytes(data)
    with pytest.raises(FileFormatError) as error:
        read_codebook(path)
    assert message in str(error.value)


def test_fortran_order_is_read(tmp_path):
    path = tmp_path / "code.npz"
    np.savez(path, matrix=np.asfortranarray(one_vs_one(4).matrix))
    assert read_codebook(path) == one_vs_one(4)


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        ("n_classes", 5),
        ("kind", "binary"),
        ("min_row_distance", 4),
        ("correctable_errors", 1),
        ("row_distance_spectrum", {"3.5": 5, "4": 1}),
        ("min_column_distance_two_sided", 2),
        ("min_column_distance_one_sided", None),
        ("max_imbalance", 0.1),
        ("max_imbalance", False),
        ("surprise", 1),
    ],
)
def test_a_flipped_figure_is_named(tmp_path, figure, value):
    stored = json.loads(document())["figures"]
    stored[figure] = value
    path = tmp_path / "code.json"
    path.write_text(document(figures=stored))
    with pytest.raises(VerificationError, match=figure) as error:
        read_codebook(path)
    assert len(error.value.differences) == 1


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        ("kind", "ternary"),
        ("n_symbols", 4),
        ("min_row_distance", 2),
        ("min_column_distance", 5),
        ("min_column_distance_two_sided", 6),
    ],
)
def test_a_flipped_figure_of_more_symbols_is_named(tmp_path, figure, value):
    stored = json.loads(symbols())["figures"]
    path = tmp_path / "code.json"
    path.write_text(symbols(figures=stored | {figure: value}))
    with pytest.raises(VerificationError, match=figure) as error:
        read_codebook(path)
    assert len(error.value.differences) == 1


WRITTEN = Path(__file__).with_name("written")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("one-vs-one", one_vs_one(4).relabel(["a", "b", "é", "d"])),
        ("dense-random", dense_random(6, 9, n_candidates=50, random_state=0)),
        ("repeated", Codebook([[1, 1, -1], [-1, -1, 1]], allow_repeated_columns=True)),
    ],
)
@pytest.mark.parametrize("suffix", FORMATS)
def test_two_symbols_have_the_files_that_they_had_before_there_were_more(name, code, suffix):
    path = WRITTEN / f"{name}{suffix}"
    same = read_codebook(path, allow_repeated_columns=code.allow_repeated_columns)
    assert same == code.relabel(same.labels)
    before, now = path.read_bytes(), files.to_bytes(code, suffix)
    if suffix == ".npz":  # how well it is compressed depends on the library
        before, now = map(members, (before, now))
    assert now == before


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {info.filename: file.read(info) for info in file.infolist()}


def test_missing_figures_claim_nothing(tmp_path):
    path = tmp_path / "code.json"
    path.write_text(document(figures={}))
    assert read_codebook(path) == one_vs_one(4)


def test_names_must_have_a_known_suffix(tmp_path):
    with pytest.raises(FileFormatError, match=r"must end in one of .json, .csv, .npz, not '.txt'"):
        write_codebook(one_vs_one(3), tmp_path / "code.txt")


@pytest.mark.parametrize("name", ["missing.json", ".", "a\0b.json"])
def test_unreadable_places_are_refused(tmp_path, name):
    with pytest.raises(FileFormatError, match=r"cannot be read|must end in"):
        read_codebook(f"{tmp_path}/{name}")


def test_oversized_files_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "code.json"
    write_codebook(one_vs_one(4), path)
    monkeypatch.setattr(_files, "MAX_BYTES", 100)
    with pytest.raises(FileFormatError, match="larger than"):
        read_codebook(path)


def test_a_crash_while_writing_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "code.json"
    write_codebook(one_vs_one(4), path)
    before = path.read_bytes()

    def crash(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(KeyboardInterrupt):
        write_codebook(one_vs_one(5), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_writing_keeps_permissions_and_follows_links(tmp_path):
    path = tmp_path / "code.json"
    write_codebook(one_vs_one(4), path)
    path.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(path)
    write_codebook(one_vs_one(5), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert read_codebook(path) == one_vs_one(5)


def test_writing_where_nothing_can_be_written_is_an_error_of_ours(tmp_path):
    with pytest.raises(FileFormatError, match="cannot be written"):
        write_codebook(one_vs_one(4), tmp_path / "missing" / "code.json")


def mutated(data, source):
    """One of many ways in which a file arrives broken."""
    kind = source.randrange(4)
    if kind == 0:
        return data[: source.randrange(len(data))]
    if kind == 1:
        broken = bytearray(data)
        for _ in range(source.randint(1, 4)):
            broken[source.randrange(len(broken))] ^= 1 << source.randrange(8)
        return bytes(broken)
    if kind == 2:
        place = source.randrange(len(data))
        return data[:place] + source.randbytes(source.randint(1, 20)) + data[place:]
    start, end = sorted(source.randrange(len(data)) for _ in range(2))
    return data[:start] + data[end:]


@pytest.mark.parametrize("suffix", FORMATS)
def test_mutated_files_raise_only_errors_of_ours(tmp_path, suffix):
    code = dense_random(6, 9, random_state=0).relabel(["a", "b", "c", "d", "é", "f"])
    data = files.to_bytes(code, suffix)
    path = tmp_path / f"code{suffix}"
    source = random.Random(0)
    refused = 0
    for _ in range(300):
        path.write_bytes(mutated(data, source))
        try:
            read_codebook(path)
        except EcocError:
            refused += 1
    assert refused > 100
