"""``ecoc atlas site`` and ``ecoc atlas submit-check``."""

import json

import numpy as np
from tests.atlas.part import part_of_atlas
from tests.cli.shell import ecoc

from ecoc.atlas import Atlas, get, packaged_atlas
from ecoc.codes import dense_random, write_codebook


def test_the_site_is_written_and_counted(tmp_path, monkeypatch):
    small = part_of_atlas(
        tmp_path / "atlas", lambda table, _: table["n_classes"] == 7, symbols=(2,)
    )
    monkeypatch.setattr("ecoc.atlas.site.packaged_atlas", lambda: small)
    folder = tmp_path / "site"
    said = ecoc("atlas", "site", "-o", folder).stdout
    n_cells = len(small.table())
    assert said.startswith(f"{folder / 'index.html'}: {n_cells} cells, ")
    facts = json.loads(ecoc("atlas", "site", "-o", folder, "--json").stdout)
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    assert (facts["files"], facts["bytes"]) == (len(sizes), sum(sizes))
    taken = ecoc("atlas", "site", "-o", tmp_path, expect=1)
    assert "no site of the atlas" in taken.stderr


def test_a_submission_is_compared_with_the_atlas(tmp_path):
    path = tmp_path / "mine.csv"
    write_codebook(get(10, 20).codebook, path)
    assert (
        "As good as the atlas: row distance 10"
        in ecoc("atlas", "submit-check", path, expect=3).stdout
    )
    write_codebook(dense_random(10, 20, random_state=0), path)
    facts = json.loads(ecoc("atlas", "submit-check", path, "--json", expect=3).stdout)
    assert facts["verdict"] == "worse"
    assert facts["atlas_distance"] == facts["bound"] == 10


def test_a_better_codebook_is_welcome(tmp_path, monkeypatch):
    """An atlas that knows less than is possible is told so."""
    whole = packaged_atlas()
    small = tmp_path / "atlas"
    small.mkdir()
    table = np.array(whole.table())
    table["distance"] = table["distance"] - 1
    np.save(small / "cells-2.npy", table)
    monkeypatch.setattr("ecoc.atlas.submission.packaged_atlas", lambda: Atlas(small))
    path = tmp_path / "mine.json"
    write_codebook(get(10, 20).codebook, path)
    assert ecoc("atlas", "submit-check", path).stdout.startswith("Better than the atlas: row")
