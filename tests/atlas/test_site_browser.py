"""The pages of the atlas in a real browser, opened from a disk."""

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.atlas.part import part_of_atlas

from ecoc.atlas.site import write_site
from ecoc.bounds import BoundProblem, best_bound
from ecoc.bounds.problem import SymbolBoundProblem
from ecoc.bounds.symbols import best_symbol_bound
from ecoc.codes import read_codebook

LARGE = {(2, 256, 60), (2, 200, 400), (2, 1024, 40), (5, 50, 30)}


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    """The smallest classes of the packaged atlas, and a few large ones."""

    def keep(table, q):
        kept = (table["n_classes"] <= 11) & (table["n_columns"] <= 60)
        for _, k, columns in (large for large in LARGE if large[0] == q):
            kept |= (table["n_classes"] == k) & (table["n_columns"] == columns)
        return kept

    return part_of_atlas(tmp_path_factory.mktemp("atlas"), keep)


@pytest.fixture(scope="module")
def site(atlas, tmp_path_factory):
    return write_site(tmp_path_factory.mktemp("pages") / "site", atlas=atlas).folder


@pytest.fixture
def opened(tab, hear, site):
    """Opens a page of the site, and fails the test if anything on it goes wrong."""
    roots, wrong = [], []

    def asked(request):
        if not request.url.startswith(("data:", "blob:", roots[-1])):
            wrong.append(f"asked for {request.url[:80]}")

    def show(name, folder=site, width=1200, height=900, color_scheme="light"):
        roots.append(folder.as_uri())
        tab.set_viewport_size({"width": width, "height": height})
        tab.emulate_media(color_scheme=color_scheme)
        tab.goto(f"{roots[-1]}/{name}")
        tab.wait_for_selector("body[data-ready]")
        return tab

    hear(
        pageerror=lambda error: wrong.append(f"script: {error}"),
        console=lambda said: wrong.append(said.text) if said.type == "error" else None,
        request=asked,
    )
    yield show
    assert wrong == []


def cell_page(q, k, columns):
    return f"cell.html?q={q}&k={k}&l={columns}"


def test_the_front_page_answers_both_questions(opened, atlas):
    page = opened("index.html")
    page.fill("#by-columns [name=k]", "10")
    page.fill("#by-columns [name=l]", "20")
    page.click("#by-columns button")
    page.wait_for_selector("#by-columns output a")
    assert "distance 10 (no codebook has more, proved)" in page.inner_text("#by-columns output")

    page.fill("#by-errors [name=k]", "10")
    page.fill("#by-errors [name=t]", "3")
    page.click("#by-errors button")
    page.wait_for_selector("#by-errors output a")
    least = next(n for n in range(4, 60) if atlas.get(10, n).distance >= 7)
    assert f"10 classes, {least} columns: distance" in page.inner_text("#by-errors output")
    page.click("#by-errors output a")
    page.wait_for_selector("body[data-ready] #check")
    assert page.inner_text("h1") == f"10 classes, {least} columns, 2 symbols"


def test_questions_without_an_answer_say_what_there_is(opened):
    page = opened("index.html")
    page.fill("#by-columns [name=k]", "10")
    page.fill("#by-columns [name=l]", "3000")
    page.click("#by-columns button")
    page.wait_for_function("document.querySelector('#by-columns output').textContent.trim()")
    said = page.inner_text("#by-columns output")
    assert said == "No such cell. For 10 classes the atlas has 4 to 30 columns."
    assert opened(cell_page(2, 10, 3000)).inner_text("h1") == "No such cell"
    assert opened("cell.html?q=7&k=x").inner_text("h1") == "No such cell"


def test_the_map_and_the_list_have_the_open_cells(opened, atlas):
    page = opened("index.html")
    table = atlas.table(3)
    n_open = int((table["distance"] < table["bound"]).sum())
    page.click("#symbols button[data-q='3']")
    page.wait_for_function(
        "document.querySelector('#open-count').textContent.includes('3 symbols')"
    )
    assert page.inner_text("#open-count").startswith(f"{n_open} cell")
    assert page.locator("#open-cells tbody tr").count() == min(n_open, 40)
    # The point of a proved cell has the colour of proved ones.
    colours = page.evaluate(
        """() => {
          const pen = document.getElementById("cells").getContext("2d");
          const style = getComputedStyle(document.documentElement);
          return [[...pen.getImageData(12, 9, 1, 1).data], style.getPropertyValue("--proved")];
        }"""
    )
    assert atlas.get(9, 12, 3).is_proved
    assert "#{:02x}{:02x}{:02x}".format(*colours[0]) == colours[1]


CELLS = [(2, 10, 20), (2, 11, 7), (2, 3, 3), (3, 9, 12), (4, 10, 9), (8, 11, 11), (10, 11, 5)]


@pytest.mark.parametrize(("q", "k", "columns"), [*CELLS, *sorted(LARGE)])
def test_a_cell_checks_itself_and_has_the_codebook_of_the_atlas(opened, atlas, q, k, columns):
    page = opened(cell_page(q, k, columns))
    cell = atlas.get(k, columns, q)
    page.click("#check")
    said = page.inner_text("#checked")
    assert said.startswith("Accepted: distance and bound")
    assert f"the least distance is {cell.distance}" in said
    rows = page.evaluate(
        """async ([q, k, l]) => {
          const code = (await Atlas.shelf(q, k))[l][6];
          return (await Atlas.expand({q, k, l, code}))[0].map((row) => [...row]);
        }""",
        [q, k, columns],
    )
    matrix = cell.codebook.matrix
    assert np.array_equal(rows, (1 - matrix) // 2 if q == 2 else matrix)


@pytest.mark.parametrize("q", [2, 3])
def test_downloads_are_codebooks(opened, atlas, tmp_path, q):
    page = opened(cell_page(q, 10, 12))
    codebook = atlas.get(10, 12, q).codebook
    for ending in ("json", "csv", "txt", "py", "tex"):
        with page.expect_download() as waiting:
            page.click(f"#downloads a[data-ending={ending}]")
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        if ending in {"json", "csv"}:
            assert np.array_equal(read_codebook(path).matrix, codebook.matrix)
        elif ending == "txt":
            assert np.array_equal(np.loadtxt(path, dtype=int), codebook.matrix)
        elif ending == "py":
            names = {}
            exec(path.read_text(), names)
            assert np.array_equal(names["codebook"], codebook.matrix)
        else:
            assert path.read_text().count(r"\\") == 9


def test_a_wrong_matrix_is_refused(opened, site, atlas, tmp_path):
    """A site whose code has two equal rows says so, and so do pasted matrices."""
    tampered = tmp_path / "site"
    shutil.copytree(site, tampered, ignore=shutil.ignore_patterns("*.json"))
    place = json.loads((site / "2" / "10" / "20.json").read_text())["code"]
    path = tampered / "data" / "2" / "codes" / f"{place}.js"
    rows = "".join("0" if entry > 0 else "1" for entry in atlas.get(10, 20).codebook.matrix[0])
    recipe = ["span", [rows, rows, rows, rows]]
    path.write_text(f'Atlas.take("2/codes/{place}",{json.dumps({"how": "", "recipe": recipe})});')
    page = opened(cell_page(2, 10, 20), folder=tampered)
    page.click("#check")
    assert page.inner_text("#checked").startswith("Refused")

    page = opened(cell_page(2, 10, 20))
    right = list(atlas.get(10, 20).codebook.rows)
    for lines, said in [
        (right, "Accepted: as good as the atlas."),
        ([right[1], *right[1:]], "Refused\nits least distance of rows is 0; the atlas has 10"),
        (right[1:], "Refused\nthere are 9 rows where 10 are needed"),
        ([row[:-1] for row in right], "Refused\nrow 1 has 19 columns where 20 are needed"),
        (["+" + row[1:] for row in right], "Refused\ncolumn 1 gives all classes the same symbol"),
        (["<b>"], "Refused\nline 1 is not a row of numbers"),
        ([], "Refused\nthere is no matrix to check"),
    ]:
        page.fill("#pasted", "\n".join(lines))
        page.click("#other button")
        assert page.inner_text("#other-checked").startswith(said)


def test_the_arithmetic_of_bounds_agrees_with_the_library(opened):
    """Bounds of random problems are accepted as they are, and refused one lower."""
    generator = random.Random(0)
    cases = []
    for _ in range(120):
        k = generator.randint(4, 256)
        columns = generator.randint((k - 1).bit_length(), min(3 * k, 2 ** (k - 1) - 1, 70))
        bound = best_bound(BoundProblem(k, columns))
        cases.append([k, columns, 2, bound.value, bound.name, bound.proof])
        q = generator.choice((3, 4, 5, 8, 10))
        k = generator.randint(q + 1, 64)
        columns = generator.randint(2, 2 * k)
        bound = best_symbol_bound(SymbolBoundProblem(k, columns, q))
        cases.append([k, columns, q, bound.value, bound.name, bound.proof])
    for case in cases:
        words = dict(case[5].get("words", case[5]))
        if "multipliers" in words:
            words["multipliers"] = list(map(str, words["multipliers"]))
        case[5] = words
    assert {case[4] for case in cases} >= {"averaging", "parity", "plotkin", "delsarte", "hamming"}
    wrong = opened("index.html").evaluate(
        """(cases) => cases.filter(([k, n, q, bound, argument, proof]) => {
          try { Checks.checkBound(k, n, q, bound, argument, proof); } catch (error) { return true; }
          try { Checks.checkBound(k, n, q, bound - 1, argument, proof); } catch (error) {
            return !(error instanceof Checks.Refused);
          }
          return true;
        })""",
        cases,
    )
    assert wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_on_a_telephone(opened, scheme):
    for name in ("index.html", cell_page(2, 200, 400), cell_page(3, 9, 12)):
        page = opened(name, width=400, height=800, color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


def test_the_site_works_under_any_name(opened, site, tmp_path):
    """No address in it begins at the root, and none leads away."""
    moved = tmp_path / "a folder" / "ätlas"
    shutil.copytree(site, moved, ignore=shutil.ignore_patterns("*.json"))
    page = opened(cell_page(2, 10, 20), folder=moved)
    page.click("#check")
    assert page.inner_text("#checked").startswith("Accepted")
    for path in Path(site).glob("*.[hjc]*"):
        text = path.read_text(encoding="utf-8")
        assert "http://" not in text
        assert "https://" not in text
