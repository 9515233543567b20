"""Streams that are closed, full or of another encoding: one line, and an exit code."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.shell import ecoc

from ecoc.cli import main
from ecoc.codes import one_vs_one, write_codebook

ECOC = Path(sys.executable).with_name("ecoc")
FULL = Path("/dev/full")


def shell(line, cwd, **environment):
    """What a line of the shell does; ECOC in it is the command."""
    result = subprocess.run(
        ["/bin/sh", "-c", line.replace("ECOC", str(ECOC))],
        capture_output=True,
        check=False,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=600,
    )
    assert b"Traceback" not in result.stderr
    assert b"Exception ignored" not in result.stderr
    return result


@pytest.fixture
def folder(tmp_path):
    write_codebook(replace(one_vs_one(4), labels=("é", "±", "雪", "d")), tmp_path / "code.json")
    return tmp_path


@pytest.mark.skipif(not FULL.exists(), reason="no full device here")
@pytest.mark.parametrize(
    "verb", ["show code.json", "show code.json --format csv", "data toy", "info --json", "--help"]
)
def test_a_full_standard_output_is_told(verb, folder):
    result = shell(f"ECOC {verb} > /dev/full", folder)
    assert result.returncode == 1
    assert result.stderr == b"ecoc: standard output cannot be written: No space left on device.\n"


@pytest.mark.skipif(not FULL.exists(), reason="no full device here")
def test_a_full_standard_error_stops_nothing(folder):
    assert shell("ECOC make one-vs-rest -k 4 -o new.json 2> /dev/full", folder).returncode == 0
    assert (folder / "new.json").exists()
    assert shell("ECOC show missing.json 2> /dev/full", folder).returncode == 1


def test_a_reader_that_has_seen_enough(folder):
    # Three records, whose pictures are far more than a pipe holds.
    records = (Path(__file__).parents[2] / "docs/results/records.jsonl").read_text().splitlines()
    pictures = [line for line in records if '"figure-boundaries"' in line]
    (folder / "records.jsonl").write_text("\n".join(pictures) + "\n")
    result = shell("ECOC report . -o - | head -c 9", folder)
    assert (result.stdout, result.stderr) == (b"<!doctype", b"")


@pytest.mark.slow
def test_closed_streams(folder):
    told = shell("ECOC show - <&-", folder)
    assert told.returncode == 1
    assert told.stderr == b"ecoc: standard input cannot be read: it is closed.\n"
    assert shell("ECOC fit - -t kind <&-", folder).returncode == 1
    assert shell("ECOC show code.json <&-", folder).returncode == 0
    assert b"Classes" in shell("ECOC show code.json 2>&-", folder).stdout
    assert shell("ECOC show missing.json 2>&-", folder).returncode == 1
    assert shell("ECOC show code.json >&-", folder).returncode == 0


def test_a_file_does_not_take_the_place_of_a_closed_stream(folder):
    """What is printed to a closed stream must not end up in the next file that is opened."""
    shell("ECOC design -k 4 -l 5 -o design.json >&- 2>&-", folder)
    assert shell("ECOC verify design.json", folder).returncode == 0


@pytest.mark.parametrize(
    ("encoding", "verb"),
    [
        ("ascii", "show code.json"),
        ("latin-1", "show code.json"),
        ("cp1252", "verify code.json"),
        ("ascii", "show code.json --json"),
    ],
)
def test_terminals_without_every_character(encoding, verb, folder):
    result = shell(f"ECOC {verb}", folder, PYTHONIOENCODING=encoding)
    assert result.returncode == 0
    assert result.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_names_that_a_terminal_does_not_have(encoding, folder):
    told = shell("ECOC show 雪.json", folder, PYTHONIOENCODING=encoding)
    assert told.returncode == 1
    assert b"cannot be read" in told.stderr


def test_data_is_utf_8_whatever_the_terminal(folder):
    shown = shell("ECOC show code.json --format csv", folder, PYTHONIOENCODING="latin-1").stdout
    assert "雪,".encode() in shown


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("desing", "There is no verb 'desing'. Did you mean 'design'?"),
        ("predcit", "Did you mean 'predict'?"),
        ("xyzzy", "There is no verb 'xyzzy'.\n"),
    ],
)
def test_a_verb_that_is_spelled_wrong(verb, said):
    result = CliRunner().invoke(main, [verb, "-k", "10"])
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("bounds", "-k", 2, "-l", 1),
        ("bounds", "-k", 3, "-l", 2, "--symbols", 3),
        ("design", "-k", 2, "-l", 1),
        ("design", "-k", 2, "-l", 3),
        ("cover", "-k", 4, "--rho", 2),
    ],
)
def test_one_of_a_thing_is_told_in_the_singular(words):
    result = ecoc(*words)
    assert not re.search(r"\b1 (columns|pairs|rows|classes|edges|cliques)\b", result.output)
    assert "None" not in result.output
