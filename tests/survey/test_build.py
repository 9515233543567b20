import numpy as np
import pytest

from ecoc.atlas import Atlas
from ecoc.design import Design, verify_claim
from ecoc.errors import InvalidInputError
from ecoc.survey import build_atlas


def test_a_build_fills_and_a_second_one_has_nothing_to_do(tmp_path):
    first = build_atlas(tmp_path, n_symbols=[2, 3], classes=(9, 10))
    assert first.is_complete
    assert first.n_cells == first.n_new == 51 + 35
    assert build_atlas(tmp_path, n_symbols=[2, 3], classes=(9, 10)).n_new == 0
    for q in (2, 3):
        for cell in list(Atlas(tmp_path).cells(q))[::9]:
            design = Design.from_cell(cell)
            assert verify_claim(design.codebook, design.to_plain(), "cell").bound == cell.bound


def test_ctrl_c_keeps_what_is_done(tmp_path):
    def interrupt(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    outcome = build_atlas(tmp_path, n_symbols=[2], classes=(9, 10), progress=interrupt)
    assert not outcome.is_complete
    assert 0 < outcome.n_cells < 51
    assert len(Atlas(tmp_path).table()) == outcome.n_cells
    rest = build_atlas(tmp_path, n_symbols=[2], classes=(9, 10))
    assert rest.n_new == 51 - outcome.n_cells


def test_a_cell_is_replaced_only_by_a_better_one(tmp_path):
    build_atlas(tmp_path, n_symbols=[2], classes=(9, 9))
    path = tmp_path / "cells-2.npy"
    table = np.load(path)
    # Figures that nothing reaches stay; a distance of less than is known goes.
    table["separation"][0], table["distance"][1] = 9, table["distance"][1] - 1
    table["distance"][0] -= 1
    table["bound"][0] = table["distance"][0] + 1
    kept = table[2].copy()
    np.save(path, table)
    outcome = build_atlas(tmp_path, n_symbols=[2], classes=(9, 9), improve=True)
    assert outcome.n_better == 2
    again = np.load(path)
    assert again["distance"][:2].tolist() == (table["distance"][:2] + 1).tolist()
    assert again["digest"][2] == kept["digest"]


def test_what_cannot_be_built_is_refused_before_work(tmp_path):
    with pytest.raises(InvalidInputError, match="n_symbols"):
        build_atlas(tmp_path / "new", n_symbols=[1])
    with pytest.raises(InvalidInputError, match="classes"):
        build_atlas(tmp_path / "new", classes=(5, 4))
    assert not (tmp_path / "new").exists()


def test_open_cells_are_designed(tmp_path):
    """Where a survey leaves columns close together or uneven, a design does better."""
    build_atlas(tmp_path, n_symbols=[2, 3], classes=(5, 5))
    before = {q: np.array(Atlas(tmp_path).table(q)) for q in (2, 3)}
    outcome = build_atlas(tmp_path, n_symbols=[2, 3], classes=(5, 5), design=True)
    assert outcome.is_complete
    assert outcome.n_better > 0
    atlas = Atlas(tmp_path)
    for q in (2, 3):
        assert len(atlas.table(q)) >= len(before[q])
        for old in before[q]:
            cell = atlas.get(int(old["n_classes"]), int(old["n_columns"]), q)
            assert (cell.distance, cell.separation) >= (old["distance"], old["separation"])
            assert cell.codebook.min_row_distance == cell.distance
    again = build_atlas(tmp_path, n_symbols=[2, 3], classes=(5, 5), design=True)
    assert again.n_better == 0


def test_open_cells_of_several_symbols_are_improved(tmp_path):
    build_atlas(tmp_path, n_symbols=[4], classes=(12, 14))
    path = tmp_path / "cells-4.npy"
    table = np.load(path)
    proved = int((table["distance"] == table["bound"]).sum())
    # As if the survey had found less.
    lost = (table["n_columns"] > 9) & (table["n_columns"] < 14)
    table["distance"][lost] -= 1
    np.save(path, table)
    outcome = build_atlas(tmp_path, n_symbols=[4], classes=(12, 14), improve=True, effort=0.2)
    assert outcome.is_complete
    assert outcome.n_proved >= proved - 1
    for cell in list(Atlas(tmp_path).cells(4))[::5]:
        assert cell.codebook.min_row_distance >= cell.distance
