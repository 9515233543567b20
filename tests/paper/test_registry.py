from dataclasses import replace

import numpy as np
import pytest

from ecoc.codes import Codebook
from ecoc.errors import FileFormatError
from ecoc.paper import PAPER_TABLES, PaperCell, PaperTable, paper_table, read_records, reproduce
from ecoc.paper.drawings import Line, line_drawing
from ecoc.paper.figures import unpack
from ecoc.paper.measuring import Measurement
from ecoc.paper.registry import tables_named
from ecoc.paper.table import Claim, FigureColumn, RecordForm, side_by_side
from ecoc.report import reproduction_markdown, reproduction_page


def test_all_are_run_the_quick_ones_first():
    names = [table.name for table in tables_named(["all"])]
    assert sorted(names) == sorted(PAPER_TABLES)
    assert names == [
        *("table2", "figure-codebooks", "table1", "table3", "figure-boundaries", "table4"),
        *("table5", "table6", "table7", "figure-correlation", "table9", "table8"),
    ]


@pytest.mark.parametrize("name", PAPER_TABLES)
@pytest.mark.parametrize("scale", ["quick", "full"])
def test_every_printed_figure_has_a_cell(name, scale):
    """But one: covering 18 classes in parts takes hours, and is for the full scale."""
    cells = PAPER_TABLES[name].cells(scale)
    beside = [cell.figures for cell in cells]
    missing = [cell.keys for cell in paper_table(name).printed if cell.figures not in beside]
    hours = [{"k": 18, "cover": "partitioned"}]
    assert missing == (hours if (name, scale) == ("table1", "quick") else [])
    keys = [tuple(sorted(cell.keys.items())) for cell in cells]
    assert len(set(keys)) == len(keys)


@pytest.fixture
def made_up(monkeypatch):
    """A table of square numbers: one value, and one line in the registry."""

    def measure(cell, workspace):
        return Measurement({"square": cell.keys["n"] ** 2 + (workspace.scale == "smoke")})

    def judge(results):
        wrong = [r for r in results.measured if r.measured["square"] != r.paper["square"]]
        return ("fails", f"{len(wrong)} are wrong.") if results.measured else None

    def draw(results):
        points = [(r.keys["n"], r.measured["square"]) for r in results.measured]
        return line_drawing(
            [Line("Ours", points)], caption="A parabola", x_label="n", y_label="square"
        )

    table = PaperTable(
        name="table10",
        title="Squares",
        caption="The squares of some numbers",
        printed=tuple(PaperCell({"n": n}, {"square": n**2}) for n in (2, 3)),
        measure=measure,
        compare=side_by_side(FigureColumn("square", "square")),
        claims=(Claim("Numbers have squares", judge),),
        draw=draw,
        form=RecordForm(keys=("n",), figures=("square",)),
    )
    monkeypatch.setitem(PAPER_TABLES, table.name, table)
    return table


def test_one_value_and_one_line_are_a_whole_table(made_up, tmp_path):
    outcome = reproduce([made_up.name], tmp_path, scale="smoke")
    assert outcome.measured == 2
    records = read_records(tmp_path)
    assert [(r.experiment, r.paper, r.measured) for r in records] == [
        ("table10", {"square": 4}, {"square": 5}),
        ("table10", {"square": 9}, {"square": 10}),
    ]
    assert made_up in tables_named(["all"])
    page, text = reproduction_page(records), reproduction_markdown(records)
    assert '<section id="table10"><h2>Table 10: Squares</h2>' in page
    assert "<strong>Numbers have squares.</strong> 2 are wrong." in page
    assert 'aria-label="A parabola. Ours from 5 to 10"' in page
    assert "| Not reproduced | Numbers have squares | 2 are wrong. |" in text
    assert "| n | Paper: square | Ours: square | Difference |" in text
    assert "| 3 | 9 | 10 | +1 |" in text
    lacking = [replace(records[0], measured={})]
    with pytest.raises(FileFormatError, match="must have 'square'"):
        reproduction_page(lacking)


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("smoke")
    outcome = reproduce(["all"], folder, scale="smoke")
    assert (outcome.failed, outcome.skipped, outcome.left) == (0, 0, 0)
    return {
        name: [r for r in read_records(folder) if r.experiment == name] for name in PAPER_TABLES
    }


@pytest.mark.slow
def test_smoke_measures_every_experiment(smoke):
    for name, records in smoke.items():
        assert len(records) == len(PAPER_TABLES[name].cells("smoke"))
        for record in records:
            assert record.measured
            assert record.subset
            assert set(record.standard_errors) <= set(record.measured)


@pytest.mark.slow
def test_covers_are_verified(smoke):
    for record in smoke["table1"]:
        assert record.measured["verified"] is True
        assert record.measured["conflicts"] == {10: 11_475, 11: 28_105}[record.keys["k"]]


@pytest.mark.slow
def test_designs_are_proved(smoke):
    for record in smoke["table2"]:
        codebook = Codebook.from_rows(record.data["rows"])
        assert codebook.min_row_distance == record.measured["best"] == record.measured["bound"]
        assert record.measured["status"] == "OPTIMAL"
        assert record.measured["gap"] == 0


@pytest.mark.slow
def test_regions_are_what_the_columns_decode_to(smoke):
    """Each point of the grid has the class of the nearest codeword, the first if there are two."""
    for record in smoke["figure-boundaries"]:
        matrix = Codebook.from_rows(record.data["rows"]).matrix
        labels = 2 * unpack(record.data["columns"]).astype(int) - 1
        agreement = np.einsum("lyx,kl->yxk", labels, matrix)
        assert np.array_equal(agreement.argmax(axis=2), unpack(record.data["regions"]))


@pytest.mark.slow
def test_accuracies_under_attack_are_ordered(smoke):
    for record in (*smoke["table8"], *smoke["table9"]):
        names = [name.removeprefix("pgd ") for name in record.measured if name.startswith("pgd ")]
        for name in names:
            clean, pgd = record.measured["clean"], record.measured[f"pgd {name}"]
            assert 0 <= record.measured[f"strong {name}"] <= pgd <= clean <= 100


@pytest.mark.slow
def test_exhaustive_code_is_that_of_the_supplement(smoke):
    (record,) = [r for r in smoke["figure-codebooks"] if r.keys["code"] == "exhaustive"]
    assert record.measured["same_rows"] is True


@pytest.mark.slow
def test_page_of_a_smoke_run_says_that_it_says_nothing(smoke):
    page = reproduction_page([record for records in smoke.values() for record in records])
    assert page.count("it says nothing here") >= 6
    assert "standing in for mnist" in page
