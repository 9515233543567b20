from dataclasses import replace

import pytest
from tests.paper.made_up import measured

from ecoc.codes import exhaustive
from ecoc.errors import InvalidInputError
from ecoc.paper import PAPER_TABLES, paper_table
from ecoc.paper.records import Results


@pytest.mark.parametrize("name", PAPER_TABLES)
def test_cells_have_distinct_keys_and_figures(name):
    table = paper_table(name)
    assert table.name == name
    assert table.printed
    keys = [tuple(sorted(cell.keys.items())) for cell in table.printed]
    assert len(set(keys)) == len(keys)
    assert all(cell.figures for cell in table.printed)


@pytest.mark.parametrize(
    ("name", "count"),
    [("table1", 10), ("table2", 9), ("table3", 6), ("table4", 15), ("table5", 10), ("table6", 6),
     ("table7", 6), ("table8", 6), ("table9", 6)],
)  # fmt: skip
def test_no_cell_is_forgotten(name, count):
    assert len(paper_table(name).printed) == count


@pytest.mark.parametrize("name", ["table8", "table9"])
def test_accuracy_under_attack_falls_with_the_radius(name):
    for cell in paper_table(name).printed:
        values = list(cell.figures.values())
        assert values == sorted(values, reverse=True)


def test_percentages():
    for name in list(PAPER_TABLES)[2:9]:
        for cell in paper_table(name).printed:
            assert all(0 <= value <= 100 for value in cell.figures.values())


def test_exhaustive_code_of_the_supplement():
    assert paper_table("figure-codebooks").printed[0].figures["rows"] == list(exhaustive(5).rows)


def test_unknown_table():
    with pytest.raises(InvalidInputError, match="Did you mean 'table1'"):
        paper_table("table11")


def test_verdicts_do_not_mix_scales():
    quick = measured("table6")
    lifted = [replace(one, measured={"accuracy": 99.9}) for one in quick]
    full = [replace(one, scale="full", subset="all of it") for one in lifted]
    (claim,) = paper_table("table6").findings(Results([*quick, full[0]]))
    assert claim.scale == "quick"
    assert "99.9" not in claim.text
    (claim,) = paper_table("table6").findings(Results([*quick, *full]))
    assert (claim.scale, claim.verdict) == ("full", "open")
    assert claim.text.endswith("Measured on all of it.")
