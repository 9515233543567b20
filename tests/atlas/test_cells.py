import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from ecoc.atlas import Atlas, get, packaged_atlas
from ecoc.atlas.cells import codebook_digest
from ecoc.bounds import BoundProblem, best_bound, check_bound
from ecoc.errors import FileFormatError, InvalidInputError


@pytest.mark.parametrize(
    ("k", "length", "q"),
    [(3, 2, 2), (26, 30, 2), (100, 40, 2), (256, 20, 2), (512, 20, 2), (64, 9, 10), (20, 31, 3)],
)
def test_a_cell_has_the_figures_of_its_codebook(k, length, q):
    cell = get(k, length, q)
    codebook = cell.codebook
    assert codebook.matrix.shape == (k, length)
    assert codebook.n_symbols == q
    rows = codebook.matrix
    nearest = min(int((rows[i + 1 :] != rows[i]).sum(axis=1).min()) for i in range(k - 1))
    assert nearest == cell.distance <= cell.bound
    assert codebook.min_column_distance() == cell.separation
    assert cell.separation <= (cell.separation_bound or k)
    groups = codebook.column_balance().groups
    smallest = np.where(groups == 0, k, groups).min(axis=0)
    assert (groups.max(axis=0) - smallest).max() == cell.imbalance
    assert codebook_digest(codebook) == cell.digest
    plain = json.loads(json.dumps(cell.to_plain()))
    assert plain["status"] == ("proved" if cell.is_proved else "gap")
    assert plain["ground"]


def test_bounds_are_the_best_and_hold():
    table = packaged_atlas().table()
    open_cells = np.flatnonzero(table["ground"] > 4)[::150]
    proved = np.flatnonzero(table["ground"] <= 4)[::9000]
    for record in table[np.concatenate([open_cells, proved])]:
        cell = get(int(record["n_classes"]), int(record["n_columns"]))
        problem = BoundProblem(cell.n_classes, cell.n_columns)
        assert check_bound(problem, cell.bound_proof) == []
        assert cell.bound <= best_bound(problem).value


def test_the_atlas_has_every_cell_of_its_scope():
    table = packaged_atlas().table()
    sizes = set(zip(table["n_classes"].tolist(), table["n_columns"].tolist(), strict=True))
    few = {(k, length) for k in range(9, 257) for length in range((k - 1).bit_length(), 3 * k + 1)}
    # No deal of the blocks for these two has different columns yet.
    assert few - sizes <= {(256, 767), (256, 768)}
    assert {(1 << m, length) for m in range(9, 15) for length in range(m, 65)} <= sizes
    assert packaged_atlas().symbols == (2, 3, 4, 5, 8, 10)
    assert (table["distance"] <= table["bound"]).all()
    keys = [record.item()[:2] for record in table]
    assert keys == sorted(set(keys))


def test_what_is_not_there_is_said_with_what_is():
    with pytest.raises(InvalidInputError, match="256 classes it has 8 to"):
        get(256, 1000)
    with pytest.raises(InvalidInputError, match="powers of two"):
        get(300, 30)
    with pytest.raises(InvalidInputError, match="2, 3, 4, 5, 8, 10 symbols"):
        get(20, 30, 6)
    assert packaged_atlas().find(300, 30) is None
    with pytest.raises(InvalidInputError, match="n_classes"):
        get(1, 3)


@pytest.fixture
def folder(tmp_path):
    for name in ("cells-3.npy", "codes-3.jsonl", "proofs-3.json", "matrices.json"):
        shutil.copy(packaged_atlas().folder / name, tmp_path / name)
    return tmp_path


def test_an_atlas_in_a_folder_is_the_same(folder):
    atlas = Atlas(folder)
    assert atlas.symbols == (3,)
    assert next(atlas.cells(3)).to_plain() == next(packaged_atlas().cells(3)).to_plain()


def test_damaged_files_are_refused(folder):
    table = np.load(folder / "cells-3.npy")
    changed = table.copy()
    changed["digest"][0] += 1
    np.save(folder / "cells-3.npy", changed)
    with pytest.raises(FileFormatError, match="another codebook"):
        _ = next(Atlas(folder).cells(3)).codebook
    changed["distance"][0] = changed["bound"][0] + 1
    np.save(folder / "cells-3.npy", changed)
    with pytest.raises(FileFormatError, match="damaged"):
        next(Atlas(folder).cells(3))
    changed = table.copy()
    changed["code"][0] = 1 << 30
    changed["ground"][0] = 6
    np.save(folder / "cells-3.npy", changed)
    with pytest.raises(FileFormatError, match="no code at byte"):
        _ = next(Atlas(folder).cells(3)).recipe
    with pytest.raises(FileFormatError, match="nothing stands behind"):
        _ = next(Atlas(folder).cells(3)).ground
    np.save(folder / "cells-3.npy", table["digest"])
    with pytest.raises(FileFormatError, match="no table of cells"):
        Atlas(folder).table(3)
    (folder / "cells-3.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(FileFormatError, match="no table of cells"):
        Atlas(folder).table(3)
    (folder / "matrices.json").write_text("[]")
    with pytest.raises(FileFormatError, match="object"):
        _ = Atlas(folder).matrices


def test_a_cell_whose_distance_is_open_is_never_settled():
    """A design with little work was made for some of them, and more work may do better."""
    cell = get(10, 20)
    assert cell.is_searched
    assert cell.is_settled
    assert not replace(cell, bound=cell.bound + 1).is_settled
    assert replace(cell, is_searched=False).is_settled == cell.is_separated
