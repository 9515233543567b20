import os
import shutil
import signal

import pytest
from hypothesis import settings

from ecoc.atlas import Atlas

# Machines differ in speed, and the same examples should run everywhere. Who looks for new
# counterexamples has the time: pytest --hypothesis-profile thorough
settings.register_profile("ecoc", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile("ecoc")

# A shell starts what it runs in the background deaf to Ctrl-C, and so would be all that tests
# start in turn.
signal.signal(signal.SIGINT, signal.default_int_handler)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser():
    """A Chromium for the tests of pages; CI installs one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("ECOC_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium is installed; ECOC_BROWSER can name one")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="module")
def tab(browser):
    """One page for all tests of a module: opening another takes a second of computing."""
    return browser.new_page()


@pytest.fixture
def hear(tab):
    """Has functions told of what happens on the page, until the test ends."""
    heard = []

    def listen(**listeners):
        for event, listener in listeners.items():
            tab.on(event, listener)
            heard.append((event, listener))

    yield listen
    for event, listener in heard:
        tab.remove_listener(event, listener)
    tab.goto("about:blank")


@pytest.fixture(scope="module")
def few_trees():
    """Forests of few trees, for tests of what is done with them: every fit compares with one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ecoc.tables.learners._TREES", 8)
        yield


@pytest.fixture
def without_atlas(monkeypatch, tmp_path):
    """Designs begin with an empty atlas, for tests of the stages that come after it."""
    monkeypatch.setattr("ecoc.design.run.packaged_atlas", lambda: Atlas(tmp_path))
