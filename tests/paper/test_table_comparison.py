from ecoc.paper import Record
from ecoc.paper.table import FigureColumn, side_by_side


def texts(*columns, keys=None, paper=None, measured=None, **more):
    record = Record("table3", keys or {"codebook": "ip3"}, "quick", "ok", paper, measured, **more)
    table = side_by_side(*columns)([record])
    return table.headings, [value.text for value in table.rows[0]]


def test_paper_ours_and_difference():
    headings, row = texts(
        FigureColumn("accuracy", "one set, %", 1),
        paper={"accuracy": 89.8},
        measured={"accuracy": 90.25},
        standard_errors={"accuracy": 0.5},
        subset="all",
        seed=3,
        seconds=250.4,
    )
    assert headings == (
        "Codebook",
        "Paper: one set, %",
        "Ours: one set, %",
        "Difference",
        "Measured on",
    )
    assert row == ["IP3", "89.8", "90.2 ± 0.5", "+0.5", "quick, seed 3, 250 s: all"]


def test_figures_can_stand_alone_and_be_missing():
    columns = (FigureColumn("best", "distance"), FigureColumn("status", "Status", None, False))
    headings, row = texts(*columns, measured={"best": 12, "status": "OPTIMAL"})
    assert headings[1:5] == ("Paper: distance", "Ours: distance", "Difference", "Status")
    assert row[1:5] == ["", "12", "", "OPTIMAL"]


def test_unknown_keys_name_themselves():
    headings, row = texts(keys={"n": 3}, measured={})
    assert headings == ("n", "Measured on")
    assert row[0] == "3"


def test_yes_no_and_large_numbers():
    columns = (
        FigureColumn("verified", "Checked", None, compare=False),
        FigureColumn("conflicts", "pairs", difference=False),
    )
    _, row = texts(
        *columns, paper={"conflicts": 616_094_535}, measured={"verified": True, "conflicts": 10**6}
    )
    assert row[1:4] == ["yes", "616,094,535", "1,000,000"]
