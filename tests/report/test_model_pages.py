import re
from dataclasses import replace
from html import unescape

import pytest
from tests.multiclass.cases import blobs

from ecoc.report import fit_page
from ecoc.tables.fitting import fit_table
from ecoc.tables.reading import Table


def fitted(**options):
    features, labels = blobs(n_classes=4, n_features=2, per_class=8, spread=2.0)
    rows = tuple((str(a), str(b), f"<{k}>") for (a, b), k in zip(features, labels, strict=True))
    table = Table(("a", "b & c", "kind"), rows, tuple(range(2, 34)), "data.csv")
    return fit_table(table, "kind", learner="naive-bayes", n_folds=2, **options)


@pytest.fixture(scope="module")
def found():
    return fitted(codebook="one-vs-one")


@pytest.fixture(scope="module")
def html(found):
    return fit_page(found)


def test_the_page_loads_nothing_from_outside(html):
    assert html.startswith("<!doctype html>")
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", html)
    assert "http" not in re.sub(r"base64,[\w+/=]+", "", html)
    assert html.count("<h1>") == 1
    assert html.count("<img") == html.count('alt="') == 5


def test_the_page_tells_what_was_found(found, html):
    assert f"{100 * found.accuracy:.2f} % of held-out rows are right" in html
    for line in found.comparison.table()[1:]:
        assert line[1] in html
        assert line[3] in unescape(html)
    assert "&lt;0&gt;" in html
    assert "<0>" not in html
    assert "b &amp; c" in html


def test_columns_that_were_not_diagnosed_are_said_not_to_be(found):
    html = fit_page(replace(found, held_out=None))
    assert "the columns were not diagnosed" in html
    assert html.count("<img") == 1


def test_learned_decoders_have_one_picture_less():
    assert fit_page(fitted(codebook="one-vs-one", decoding="learned")).count("<img") == 4
