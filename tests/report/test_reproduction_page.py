import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest
from tests.paper.made_up import attacked, measured, table1
from tests.test_latex import read_tables

from ecoc.errors import InvalidInputError
from ecoc.paper import PAPER_TABLES, Record, paper_table
from ecoc.paper.figures import pack
from ecoc.paper.records import results_by_table
from ecoc.report import reproduction_latex, reproduction_markdown, reproduction_page


class Reader(HTMLParser):
    """Collects what a checker of pages looks at."""

    VOID = frozenset({"meta", "img", "image", "path", "circle", "rect", "polyline", "br", "link"})

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.links, self.headings, self.images = [], [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if tag == "a" else []
        self.headings += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        if tag == "img" or (tag == "svg" and attrs.get("role") == "img"):
            self.images.append(attrs.get("alt") or attrs.get("aria-label"))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def everything():
    """A page with every part, from made-up records."""
    regions = {
        "regions": pack([[0, 1], [2, 3]]),
        "columns": pack([[[0, 1], [1, 0]]]),
        "points": pack([[10, 20]]),
        "classes": pack([3]),
    }
    code = {"rows": ["+-0", "-+-"], "spectrum": {"2": 1, "2.5": 3}}
    matrix = [[0.1, None], [0.2, 0.3]]
    sizes = {"row_distance": 2, "column_distance": 1}
    several = dict.fromkeys(("mean_error", "mean_p", "mean_p_if_independent", "mean_phi"), 0.2)
    return [
        *table1(0.5),
        *measured("table2", change=lambda f: f | {"status": "OPTIMAL", "gap": 0}),
        *measured("table3", change=lambda f: f | {"accuracy_mean": 80.0}),
        *measured("table4", change=lambda f: f | {"accuracy": 70.0}),
        *(record for part in ("table5", "table6", "table7") for record in measured(part)),
        *attacked(1.0),
        *measured("table9", change=lambda f: f | {f"strong {n[4:]}": 0.0 for n in f}),
        *[
            replace(r, keys={**r.keys, "L": 10})
            for r in measured("figure-boundaries", data=regions)
        ],
        *measured(
            "figure-correlation", change=lambda f: f | several, data={"p": matrix, "phi": matrix}
        ),
        *measured("figure-codebooks", change=lambda f: f | sizes, data=code),
    ]


@cache
def whole_page():
    return reproduction_page(everything())


def test_page_has_every_part_and_is_sound():
    reader = Reader(whole_page())
    assert set(PAPER_TABLES) <= set(reader.ids)
    assert {link.removeprefix("#") for link in reader.links} <= set(reader.ids)
    assert reader.open == []
    assert reader.headings[0] == 1
    assert reader.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(reader.headings, reader.headings[1:], strict=False))
    assert len(reader.images) >= 15
    assert all(reader.images)


def test_page_loads_nothing_from_elsewhere():
    page = whole_page()
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", page)
    assert not re.search(r"https?://|@import|url\(", page)


def test_figures_stand_beside_each_other_with_where_they_come_from():
    records = measured(
        "table5",
        change=lambda f: {"accuracy": f["accuracy"] - 1.5},
        standard_errors={"accuracy": 0.25},
        subset="6,000 of 60,000 samples",
        seed=3,
        seconds=12.0,
    )
    page = reproduction_page(records)
    (row,) = [row for row in re.findall(r"<tr>.*?</tr>", page) if 'data-key="80.37"' in row]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", row)
    assert cells[:5] == ["linear", "IP3", "80.37", "78.87 ± 0.25", "-1.50"]
    assert cells[-1] == "quick, seed 3, 12.0 s: 6,000 of 60,000 samples"


def test_what_was_not_measured_is_said():
    page = reproduction_page(table1())
    assert "not measured at these scales: k 18, cover partitioned" in page
    failed = Record("table2", {"k": 10, "L": 20}, "quick", "failed", note="<b>bad</b>")
    page = reproduction_page([failed])
    assert "Failed: k 10, L 20. &lt;b&gt;bad&lt;/b&gt;" in page


@pytest.mark.parametrize("write", [reproduction_page, reproduction_markdown, reproduction_latex])
def test_no_records(write):
    with pytest.raises(InvalidInputError, match="ecoc reproduce"):
        write([])


def test_markdown_has_the_same_figures_as_the_page():
    results = results_by_table(everything())
    text = reproduction_markdown(everything())
    page = whole_page()
    assert all(f"## {paper_table(part).heading}" in text for part in PAPER_TABLES)
    for part in PAPER_TABLES:
        rows = paper_table(part).compare(results[part].measured).rows
        assert rows
        for row in rows:
            assert f"| {row[0].text} | {row[1].text} |" in text
            assert f">{row[1].text}</td>" in page
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == 13
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1


def test_latex_has_a_table_for_each_comparison():
    text = reproduction_latex(everything())
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == len(PAPER_TABLES)
    for table in read_tables(text):
        assert len({len(row) for row in table}) == 1
        assert "Measured on" not in table[0]
