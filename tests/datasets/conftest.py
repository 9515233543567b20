from urllib.error import URLError

import pytest

from ecoc.datasets import _sources


@pytest.fixture(autouse=True)
def _no_other_source(monkeypatch):
    """No folder, no package, no network, unless a test says so."""
    monkeypatch.delenv("ECOC_DATA", raising=False)
    monkeypatch.setattr(_sources.importlib.util, "find_spec", lambda name: None)
    offline(monkeypatch)


def offline(monkeypatch):
    def refuse(**options):
        raise URLError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", refuse)
