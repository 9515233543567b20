"""Both kinds of pages in a real browser: nothing is missing, nothing is asked of a network."""

from functools import cache

import numpy as np
import pytest

from ecoc.codes import dense_random
from ecoc.design import design_codebook
from ecoc.paper import Record, paper_table
from ecoc.report import codebook_page, design_page, fit_page, reproduction_page
from ecoc.tables import Table, fit_table

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture
def opened(tab, hear, tmp_path):
    """Opens a page from a file, and fails the test if anything on it goes wrong."""
    path, wrong = tmp_path / "page.html", []

    def asked(request):
        if not request.url.startswith(("data:", path.as_uri())):
            wrong.append(f"asked for {request.url[:80]}")

    def show(html, color_scheme="light"):
        path.write_text(html, encoding="utf-8")
        tab.set_viewport_size({"width": 1200, "height": 900})
        tab.emulate_media(media="screen", color_scheme=color_scheme)
        tab.goto(path.as_uri(), wait_until="load")
        return tab

    hear(
        pageerror=lambda error: wrong.append(f"script: {error}"),
        console=lambda said: wrong.append(said.text) if said.type == "error" else None,
        requestfailed=lambda request: wrong.append(f"failed: {request.url[:80]}"),
        request=asked,
    )
    yield show
    assert wrong == []


@cache
def report():
    """A report whose gaps are those of the paper, in an order that sorting changes."""
    cells = paper_table("table2").printed
    records = [
        Record(
            "table2",
            cell.keys,
            "quick",
            "ok",
            cell.figures,
            {"best": cell.figures["best"], "bound": cell.figures["bound"], "status": "FEASIBLE",
             "gap": float(i * 7 % 5), "seconds": 100.0 / (i + 1), "certificate": "bound"},
            note="A note.",
        )
        for i, cell in enumerate(cells)
    ]  # fmt: skip
    code = dense_random(6, 12, random_state=0)
    keys = {"code": "dense", "k": 6, "L": 12}
    data = {"rows": list(code.rows), "spectrum": {"4": 2, "6": 13}}
    figures = {"columns": 12, "row_distance": 4, "column_distance": 1}
    gallery = Record("figure-codebooks", keys, "quick", "ok", None, figures, data=data)
    return reproduction_page([*records, gallery])


@cache
def fit():
    """A page with long names of classes, as tables have them."""
    generator = np.random.default_rng(0)
    kinds = [f"a long name of class {i}" for i in range(9)]
    features = generator.normal(size=(90, 2)) + np.arange(90)[:, None] % 9
    rows = tuple(
        (str(a), str(b), kinds[i % 9]) for i, (a, b) in enumerate(features.round(3).tolist())
    )
    table = Table(("a", "b", "kind"), rows, tuple(range(90)), "data.csv")
    return fit_page(fit_table(table, "kind", learner="naive-bayes", holdout=0.4))


PAGES = {
    "report": report,
    "design": lambda: design_page(design_codebook(6, 10, random_state=0)),
    "codebook": lambda: codebook_page(dense_random(8, 16, random_state=0)),
    "fit": fit,
}


@pytest.mark.parametrize("name", PAGES)
def test_everything_loads(opened, name):
    page = opened(PAGES[name]())
    assert page.locator("h1").count() == 1
    broken = "images => images.filter(i => !(i.complete && i.naturalWidth)).length"
    assert page.locator("img").evaluate_all(broken) == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("name", PAGES)
def test_a_telephone_needs_no_scrolling_sideways(opened, name):
    page = opened(PAGES[name]())
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    # What is wider than the page moves inside it, and its letters can be read.
    small = """texts => texts.map(text => {
      const scale = text.ownerSVGElement.getScreenCTM().a;
      return scale * parseFloat(getComputedStyle(text).fontSize);
    })"""
    sizes = page.locator(".chart svg text, .ecoc-codebook figure:first-of-type svg text")
    assert min(sizes.evaluate_all(small), default=9) >= 6


def test_charts_are_dark_on_light_and_light_on_dark(opened):
    for scheme in ("light", "dark"):
        page = opened(fit(), color_scheme=scheme)
        inks = page.locator(".chart svg text").evaluate_all(CONTRAST.replace(".color", ".fill"))
        assert inks
        assert min(inks) >= 4.5
        assert page.locator(".chart svg").first.evaluate("e => e.clientWidth") > 400


@pytest.mark.parametrize("name", PAGES)
def test_text_is_readable_in_both_colour_schemes(opened, name):
    """Headings and cells keep a contrast of at least 4.5 to the paper (WCAG AA)."""
    for scheme in ("light", "dark"):
        page = opened(PAGES[name](), color_scheme=scheme)
        contrasts = page.locator("h1, h2, td, th, .badge, .soft, figcaption").evaluate_all(CONTRAST)
        assert contrasts
        assert min(contrasts) >= 4.5


CONTRAST = """elements => {
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map((part) => part / 255)
      .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  return elements.map((element) => {
    const ink = light(getComputedStyle(element).color);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
  });
}"""


def column(page, table, title):
    """The texts of a column of a table, from top to bottom."""
    titles = table.locator("thead th").all_inner_texts()
    place = next(i for i, text in enumerate(titles) if text.strip().startswith(title))
    return table.locator(f"tbody tr td:nth-child({place + 1})").all_inner_texts()


def test_tables_sort_by_click(opened):
    page = opened(report())
    table = page.locator("#table2 table.sortable")
    heading = table.locator("th", has_text="Seconds")
    before = [float(text) for text in column(page, table, "Seconds")]
    assert before == sorted(before, reverse=True)
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert [float(text) for text in column(page, table, "Seconds")] == sorted(before)
    assert column(page, table, "Classes k") == [str(k) for k in range(18, 9, -1)]
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert [float(text) for text in column(page, table, "Seconds")] == before


def test_tables_sort_by_keyboard(opened):
    page = opened(report())
    table = page.locator("#table2 table.sortable")
    heading = table.locator("th", has_text="Ours: gap %")
    for _ in range(200):
        page.keyboard.press("Tab")
        if heading.locator("button").evaluate("button => button === document.activeElement"):
            break
    else:
        pytest.fail("the heading cannot be reached with Tab")
    page.keyboard.press("Enter")
    gaps = [float(text) for text in column(page, table, "Ours: gap %")]
    assert gaps == sorted(gaps)
    page.keyboard.press("Space")
    gaps = [float(text) for text in column(page, table, "Ours: gap %")]
    assert gaps == sorted(gaps, reverse=True)
    assert len(set(gaps)) > 1


def test_paper_shows_everything(opened):
    """Landscape A4 at 96 dots an inch, less the margins; notes are unfolded."""
    page = opened(report())
    page.set_viewport_size({"width": 1032, "height": 700})
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details").count() == page.locator("details[open]").count() > 0


def test_links_lead_to_their_sections(opened):
    page = opened(report())
    page.locator("nav a", has_text="Table 2").click()
    assert page.evaluate("document.querySelector(':target').id") == "table2"
