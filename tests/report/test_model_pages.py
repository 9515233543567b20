import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest
from tests.multiclass.cases import blobs

from ecoc.multiclass.diagnostics import ClassReport
from ecoc.report import fit_page
from ecoc.tables.fitting import HeldOut, fit_table
from ecoc.tables.reading import Table

pytestmark = pytest.mark.usefixtures("few_trees")


def fitted(n_folds=2, **options):
    features, labels = blobs(n_classes=4, n_features=2, per_class=8, spread=2.0)
    rows = tuple((str(a), str(b), f"<{k}>") for (a, b), k in zip(features, labels, strict=True))
    table = Table(("a", "b & c", "kind"), rows, tuple(range(2, 34)), "data.csv")
    return fit_table(table, "kind", learner="naive-bayes", n_folds=n_folds, **options)


@pytest.fixture(scope="module")
def found():
    return fitted(codebook="one-vs-one")


@pytest.fixture(scope="module")
def html(found):
    return fit_page(found)


def test_the_page_loads_nothing_from_outside(html):
    assert html.startswith("<!doctype html>")
    assert not re.findall(r"""(?:src|href)=["'](?!data:|#)""", html)
    assert "http" not in re.sub(r"base64,[\w+/=]+", "", html)
    assert html.count("<h1>") == 1
    assert html.count("<svg") == html.count('<svg role="img" aria-label="') == 8
    names = re.findall(r'\bid="([^"]+)"', html)
    assert len(names) == len(set(names))


def test_the_page_tells_what_was_found(found, html):
    assert "<title>Predicting kind from data.csv</title>" in html
    assert f"{100 * found.accuracy:.2f} % of held-out rows are right" in html
    assert f"{100 * found.held_out.report.balanced_accuracy:.2f} % in the mean" in html
    assert f"{100 * found.held_out.reliability.expected_calibration_error:.1f} points" in html
    for line in found.comparison.table()[1:]:
        assert line[1] in html
        assert line[2] in html
        assert line[4] in unescape(html)
    for line in found.held_out.report.table():
        assert "".join(f"<td>{cell}</td>" for cell in line[2:]) in html or line[0] == "class"
    for row in found.held_out.report.counts:
        assert f">{row.max()}</td>" in html
    assert "&lt;0&gt;" in html
    assert "<0>" not in html
    assert "b &amp; c" in html


def test_columns_that_were_not_diagnosed_are_said_not_to_be(found):
    html = fit_page(replace(found, held_out=HeldOut(found.held_out.report)))
    assert "the columns were not diagnosed" in html
    assert "--calibration sigmoid" in html
    assert html.count("<svg") == 3


def test_learned_decoders_have_one_picture_less():
    assert fit_page(fitted(codebook="one-vs-one", decoding="learned")).count("<svg") == 7


def test_what_was_not_validated_is_said_not_to_be():
    html = fit_page(fitted(codebook="one-vs-one", validate=False))
    assert "nothing was held out, so that its accuracy is not known" in html
    assert "Rows of each class" in html
    assert html.count("<svg") == 2


def test_the_codebook_names_the_classes(html):
    codebook = html[html.index("<h2>The codebook</h2>") :]
    assert ">&lt;0&gt;</text>" in codebook


def test_many_classes_show_those_with_the_most_errors():
    truth = np.repeat(np.arange(60), 2)
    given = np.where(truth < 50, truth, 0)
    report = ClassReport.from_predictions(given, truth)
    found = fitted(codebook="one-vs-one", validate=False)
    html = fit_page(replace(found, held_out=HeldOut(report)))
    assert "The 40 classes with the most errors of 60." in html
    heat = html[html.index('<table class="heat">') : html.index("</table>", html.index('heat"'))]
    assert heat.count('<th scope="row">') == 40
    for place in (0, *range(50, 60)):
        assert f'<th scope="row">{place}</th>' in heat


def test_pages_of_codes_with_several_symbols():
    html = fit_page(fitted(codebook="balanced-random", n_symbols=3, n_columns=3))
    assert "a colour for each of 3 symbols" in html


def test_hints_are_on_the_page(found):
    worse = replace(found.comparison, accuracies=found.comparison.accuracies.copy())
    worse.accuracies[0] = [0.2, 0.21]
    worse.accuracies[-1] = [0.9, 0.91]
    html = fit_page(replace(found, comparison=worse))
    assert "forest is better than one-vs-one here; try --learner forest" in html
