"""Tables for LaTeX, read again by a reader of the few commands that they are made of."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from tests.strategies import any_codebooks

from ecoc import Codebook
from ecoc._latex import booktabs, escaped
from ecoc.multiclass.diagnostics import Splits, compare_on_splits
from ecoc.robustness import RobustnessResult

COMMANDS = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textquotedbl": '"',
}
TOKEN = re.compile(r"\\[a-zA-Z]+|\\[^a-zA-Z]|\$[^$]*\$|--|.", re.DOTALL)


def read_text(latex):
    """What LaTeX would show; anything that it would take for a command is an error."""
    shown, depth, tokens = [], 0, TOKEN.findall(latex)
    for place, token in enumerate(tokens):
        if token[0] == "\\" and token[1:] in COMMANDS:
            # A command swallows spaces that follow, unless braces end it.
            assert tokens[place + 1 : place + 3] == ["{", "}"]
            shown.append(COMMANDS[token[1:]])
        elif token[0] == "\\":
            assert token[1:] in set("&%$#_{}"), token
            shown.append(token[1])
        elif token[0] == "$":
            shown.append({r"$\pm$": "±", "$+$": "+", "$-$": "-", r"$\epsilon$": "ε"}[token])
        elif token in "{}":
            depth += 1 if token == "{" else -1
            assert depth >= 0
        else:
            assert token not in {*'&%#_~^<>|"\\', "--"}, token
            shown.append(token)
    assert depth == 0
    return "".join(shown)


def read_tables(latex):
    """The cells of every table, as LaTeX would show them."""
    tables = []
    for body in re.findall(
        r"\\begin\{tabular\}\{[^\n]*\}\n(.*?)\\end\{tabular\}", latex, re.DOTALL
    ):
        lines = body.splitlines()
        assert lines[0] == r"\toprule"
        assert lines[2] == r"\midrule"
        assert lines[-1] == r"\bottomrule"
        rows = [lines[1], *lines[3:-1]]
        # What follows the end of a line must not look like its argument.
        assert all(row.endswith(r" \\") and row[0] not in "[*" for row in rows)
        tables.append([[read_text(c) for c in re.split(r"(?<!\\) & ", r[:-3])] for r in rows])
    return tables


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


def test_a_robustness_result_has_a_row_for_each_radius():
    result = RobustnessResult((0.1, 0.2), 0.9, (0.5, 0.1), paper=(0.6, 0.2), certified=(0.3, 0.0))
    (table,) = read_tables(result.to_latex())
    assert table == [
        ["ε", "attacked", "paper", "certified"],
        ["0", "90.0 %", "90.0 %", "90.0 %"],
        ["0.1", "50.0 %", "60.0 %", "30.0 %"],
        ["0.2", "10.0 %", "20.0 %", "0.0 %"],
    ]
