import re

from ecoc.report.tables import Value, sortable_table


def test_every_heading_is_a_button_and_every_cell_has_its_key():
    rows = [[Value("a", None, "text"), Value("1,000", 1000), Value("")]]
    table = sortable_table(["Name", "Number", "None"], rows, caption="Things")
    assert re.findall(r'<th scope="col"><button type="button">(\w+)<', table) == [
        "Name",
        "Number",
        "None",
    ]
    assert '<td class="text">a</td>' in table
    assert '<td class="number" data-key="1000">1,000</td>' in table
    assert '<td class="number" data-key=""></td>' in table


def test_large_numbers_keep_their_digits():
    table = sortable_table(["n"], [[Value("616,094,535", 616_094_535)]], caption="c")
    assert 'data-key="616094535"' in table


def test_text_is_escaped():
    table = sortable_table(["<n>"], [[Value("<b>", None, "text")]], caption="a & b")
    assert "<n>" not in table
    assert "<b>" not in table
    assert "a &amp; b" in table
