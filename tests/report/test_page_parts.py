import re

import pytest
from matplotlib.figure import Figure

from ecoc.paper.table import ComparisonTable, ComparisonValue
from ecoc.report.page import drawing, facts_table, heat_table, sortable_table


def test_every_heading_is_a_button_and_every_cell_has_its_key():
    row = (
        ComparisonValue("a", None, "text"),
        ComparisonValue("1,000", 1000),
        ComparisonValue(""),
    )
    comparison = ComparisonTable(("Name", "Number", "None"), (row,))
    table = sortable_table(comparison, caption="Things")
    assert re.findall(r'<th scope="col"><button type="button">(\w+)<', table) == [
        "Name",
        "Number",
        "None",
    ]
    assert '<td class="text">a</td>' in table
    assert '<td class="number" data-key="1000">1,000</td>' in table
    assert '<td class="number" data-key=""></td>' in table


def test_large_numbers_keep_their_digits():
    table = sortable_table(
        ComparisonTable(("n",), ((ComparisonValue("616,094,535", 616_094_535),),)), caption="c"
    )
    assert 'data-key="616094535"' in table


def test_text_is_escaped():
    table = sortable_table(
        ComparisonTable(("<n>",), ((ComparisonValue("<b>", None, "text"),),)), caption="a & b"
    )
    assert "<n>" not in table
    assert "<b>" not in table
    assert "a &amp; b" in table


def plotted(colour="black"):
    figure = Figure(figsize=(4, 3))
    figure.subplots().plot([1, 2], [3, 5], "o-", color=colour, label="<l>")
    figure.axes[0].legend()
    return figure


def test_drawings_are_told_to_those_who_cannot_see():
    html = drawing(plotted(), "<a & b>", "from 2 to 5")
    assert 'role="img" aria-label="&lt;a &amp; b&gt;. from 2 to 5"' in html
    assert "<figcaption" in html
    assert "<a" not in html
    assert "<l>" not in html
    assert drawing(plotted(), "c") == drawing(plotted(), "c")


def test_drawings_have_the_colours_of_the_page():
    html = drawing(plotted("#1f5fa6"), "c")
    assert "stroke: var(--blue)" in html
    assert "stroke: currentColor" in html
    assert "#000000" not in html
    assert "#ffffff" not in html.replace("fill: #ffffff; opacity: 0", "").replace(
        "fill: #ffffff; opacity: 0.8", ""
    )
    # Letters are letters, and the page chooses their font.
    assert re.search(r"<text[^>]*font-size: \d+(\.\d+)?px[^>]*>1.0</text>", html)
    assert "DejaVu" not in html


def test_names_inside_drawings_differ():
    names = [re.findall(r' id="([^"]+)"', drawing(plotted(), caption)) for caption in "cd"]
    assert names[0]
    assert not set(names[0]) & set(names[1])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (["B20", "S4"], "B20, S4"),
        ({"n_columns": 20, "sum": 1.5}, "columns, L 20, sum 1.5"),
        ([], "none"),
        (None, "none"),
        (True, "yes"),
        ("a <b>", "a &lt;b&gt;"),
    ],
)
def test_facts_are_words(value, text):
    assert f"<td>{text}</td>" in facts_table({"n_cut": value})
    assert '<th scope="row">columns cut off</th>' in facts_table({"n_cut": value})


def test_heat_tables_show_the_share_of_a_row():
    table = heat_table([[1, 0], [3, 1]], ["<a>", "b"], caption="c & d", across="given")
    assert re.findall(r'--share:([\d.]+)">(\d+)<', table) == [
        ("1", "1"),
        ("0.866", "3"),
        ("0.5", "1"),
    ]
    assert table.count('class="right"') == 2
    assert "&lt;a&gt;" in table
    assert "c &amp; d" in table
