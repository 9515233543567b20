"""The site in a real browser: nothing comes from elsewhere, and no page scrolls sideways."""

from pathlib import Path

import pytest

SITE = Path(__file__).parents[1] / "build" / "docs"

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists(), reason="make docs builds the site"
)

PAGES = (
    *("index.html", "quick-start.html", "which-codebook.html", "mathematics.html"),
    *("comparison.html", "command-line.html", "results.html", "gallery/index.html"),
    *("gallery/3_many_classes.html", "api/index.html", "api/multiclass.html"),
    *("api/generated/ecoc.ECOCClassifier.html", "api/generated/ecoc.Codebook.html"),
)


@pytest.fixture
def page(tab):
    tab.set_viewport_size({"width": 400, "height": 800})
    return tab


@pytest.mark.parametrize("name", PAGES)
def test_pages_fit_a_narrow_screen_and_ask_nobody(page, hear, name):
    asked = []
    hear(
        request=lambda request: asked.append(request.url),
        requestfailed=lambda request: asked.append(f"failed: {request.url}"),
    )
    page.goto((SITE / name).as_uri(), wait_until="load")
    assert [url for url in asked if not url.startswith(("data:", SITE.as_uri()))] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    broken = "images => images.filter(i => !(i.complete && i.naturalWidth)).length"
    assert page.locator("img[src]:visible").evaluate_all(broken) == 0


def test_what_is_copied_has_no_prompts_and_no_output(page):
    page.goto((SITE / "quick-start.html").as_uri(), wait_until="load")
    page.evaluate("onCopy = () => { window.copied = document.activeElement.value; }")
    page.evaluate("document.addEventListener('copy', onCopy)")
    for block, begins in (("console", "ecoc data digits"), ("python", "from sklearn")):
        page.locator(f"div.highlight-{block} button.copybtn").first.click(force=True)
        copied = page.evaluate("window.copied")
        assert copied.startswith(begins)
        assert not any(sign in copied for sign in ("$ ", ">>>", "0.90"))
