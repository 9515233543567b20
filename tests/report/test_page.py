import re

import pytest

from ecoc.codes import Codebook, dense_random, exhaustive
from ecoc.design import Design, Status, design_codebook
from ecoc.errors import InvalidInputError
from ecoc.report import codebook_page, design_page, page


def test_titles_are_escaped():
    assert "<title>a &lt; b</title>" in page("a < b", "")


@pytest.mark.parametrize(
    "code", [dense_random(10, 20, random_state=0), exhaustive(12), Codebook([[1], [-1]])]
)
def test_pages_load_nothing_from_outside(code):
    html = codebook_page(code)
    assert html.startswith("<!doctype html>")
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", html)
    assert "http" not in html
    assert html.count("<h1>") == 1
    assert html.count('role="img" aria-label=') == html.count("<svg")


def test_the_page_tells_how_the_code_was_made():
    html = codebook_page(dense_random(10, 20, random_state=7))
    assert '<th scope="row">candidates</th>' in html
    assert ">7<" in html


def test_the_page_of_a_design_says_what_is_proved():
    design = design_codebook(6, 9, min_column_distance=2, method="integer-program")
    html = design_page(design)
    assert "OPTIMAL: minimum row distance 5" in html
    assert "column separation, rho" in html
    assert not re.search(r"\{&#x27;|\[&#x27;|\bn [a-z]", html)
    assert "highs" in html
    nothing = Design(design.problem, None, Status.UNKNOWN, None, None, None)
    with pytest.raises(InvalidInputError, match="no page"):
        design_page(nothing)
