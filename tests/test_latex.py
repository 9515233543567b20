"""Tables for LaTeX, read again by a reader of the few commands that they are made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from tests.latex_reader import read_tables, read_text
from tests.strategies import any_codebooks

from ecoc import Codebook
from ecoc._latex import booktabs, escaped
from ecoc.multiclass.diagnostics import ClassReport, Splits, compare_on_splits
from ecoc.robustness import RobustnessResult


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20))
def test_every_text_is_shown_as_it_is(text):
    assert read_text(escaped(text)) == " ".join(text.split())


@pytest.mark.parametrize(
    "text", ["a & b", "100 %", r"\input{x}", "$x^2$", "a---b", "x_1", "{", "}"]
)
def test_signs_of_latex_are_text(text):
    assert read_text(escaped(text)) == text


def test_a_cell_is_no_argument_of_the_line_before():
    table = booktabs([["a"], ["[b]"], ["*c"]])
    assert read_tables(table) == [[["a"], ["[b]"], ["*c"]]]


@given(any_codebooks())
def test_a_codebook_has_a_cell_for_each_entry(code):
    ((heading, *rows),) = read_tables(code.to_latex())
    assert heading == ["class", *map(str, range(code.n_columns))]
    assert ["".join(row[1:]) for row in rows] == list(code.rows)
    names = code.labels or map(str, range(code.n_classes))
    assert [row[0] for row in rows] == [" ".join(name.split()) for name in names]


def test_labels_are_escaped():
    code = Codebook([[1], [-1]], labels=["R&D_50%", r"[\x]"])
    ((_, *rows),) = read_tables(code.to_latex())
    assert rows == [["R&D_50%", "+"], [r"[\x]", "-"]]


def test_a_comparison_is_its_table():
    samples, labels = load_iris(return_X_y=True)
    models = {"my_code": GaussianNB(), "1 & 2": DummyClassifier()}
    comparison = compare_on_splits(models, samples, labels, Splits.folds(labels, random_state=0))
    (table,) = read_tables(comparison.to_latex())
    assert table == [list(line) for line in comparison.table()]


def test_a_report_of_classes_is_its_table():
    report = ClassReport.from_predictions(["a_1", "b", "b"], ["a_1", "a_1", "b"])
    (table,) = read_tables(report.to_latex())
    assert table == [list(line) for line in report.table()]


def test_a_robustness_result_has_a_row_for_each_radius():
    result = RobustnessResult((0.1, 0.2), 0.9, (0.5, 0.1), paper=(0.6, 0.2), certified=(0.3, 0.0))
    (table,) = read_tables(result.to_latex())
    assert table == [
        ["ε", "attacked", "paper", "certified"],
        ["0", "90.0 %", "90.0 %", "90.0 %"],
        ["0.1", "50.0 %", "60.0 %", "30.0 %"],
        ["0.2", "10.0 %", "20.0 %", "0.0 %"],
    ]
