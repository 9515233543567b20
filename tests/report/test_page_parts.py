import re

from matplotlib.figure import Figure

from ecoc.paper.table import ComparisonTable, ComparisonValue
from ecoc.report.page import drawing, sortable_table


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


def test_drawings_are_told_to_those_who_cannot_see():
    html = drawing(Figure(), "<a & b>", "from 2 to 5")
    assert 'alt="&lt;a &amp; b&gt;. from 2 to 5"' in html
    assert "<figcaption" in html
    assert "<a" not in html
    assert drawing(Figure(), "c") == drawing(Figure(), "c")
