"""What ``ecoc atlas site`` writes."""

import json
import re
from importlib import resources

import numpy as np
import pytest
from tests.atlas.part import part_of_atlas

from ecoc.atlas import Atlas, packaged_atlas
from ecoc.atlas.cells import GROUNDS
from ecoc.atlas.recipes import expand_recipe
from ecoc.atlas.site import SENTENCES, write_site
from ecoc.errors import InvalidInputError


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    folder = tmp_path_factory.mktemp("atlas")
    return part_of_atlas(folder, lambda table, _: table["n_classes"] <= 9, symbols=(2, 3))


def test_programs_find_every_cell(atlas, tmp_path):
    steps = []
    site = write_site(tmp_path / "site", atlas=atlas, progress=lambda *step: steps.append(step))
    index = json.loads((site.folder / "index.json").read_text())
    total = sum(len(atlas.table(q)) for q in (2, 3))
    assert steps[-1] == (total, total)
    assert index["cells"] == site.n_cells == total
    files = [path for path in site.folder.rglob("*") if path.is_file()]
    assert (site.n_files, site.n_bytes) == (len(files), sum(p.stat().st_size for p in files))
    matrices = json.loads((site.folder / "matrices.json").read_text())
    for q in atlas.symbols:
        for cell in atlas.cells(q):
            names = {"symbols": q, "classes": cell.n_classes, "columns": cell.n_columns}
            path = index["paths"]["cell"].format(**names)
            plain = json.loads((site.folder / path).read_text())
            assert plain["distance"] == cell.distance
            assert plain["bound"] == cell.bound
            code = site.folder / index["paths"]["code"].format(symbols=q, code=plain["code"])
            recipe = json.loads(code.read_text())["recipe"]
            rows = expand_recipe(recipe, q, matrices)[: cell.n_classes]
            matrix = cell.codebook.matrix
            assert np.array_equal(rows, (1 - matrix) // 2 if q == 2 else matrix)


def test_a_site_is_replaced_and_nothing_else(atlas, tmp_path):
    folder = tmp_path / "site"
    first = write_site(folder, atlas=atlas)
    assert write_site(folder, atlas=atlas) == first
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter1.txt").write_text("mine")
    with pytest.raises(InvalidInputError, match="no site of the atlas"):
        write_site(other, atlas=atlas)
    assert [path.name for path in other.iterdir()] == ["chapter1.txt"]
    with pytest.raises(InvalidInputError, match="is a file"):
        write_site(other / "chapter1.txt", atlas=atlas)
    with pytest.raises(InvalidInputError, match="has no cells"):
        write_site(tmp_path / "new", atlas=Atlas(tmp_path / "nothing"))


def test_every_argument_is_told():
    assert set(SENTENCES) == set(GROUNDS)


def test_the_browser_checks_the_argument_of_every_cell_but_one():
    """What docs/atlas.md says; the page of that cell says so, too."""
    script = (resources.files("ecoc.atlas") / "pages" / "checks.js").read_text(encoding="utf-8")
    listed = re.search(r"const ARGUMENTS = {(.*?)}", script).group(1)
    checked = [name.strip() for name in listed.split(",")]
    atlas = packaged_atlas()
    left = []
    for q in atlas.symbols:
        table = atlas.table(q)
        known = np.isin(table["ground"], [GROUNDS.index(name) for name in checked])
        left += [(q, *record.item()[:2]) for record in table[~known]]
    assert left == [(2, 6, 14)]
