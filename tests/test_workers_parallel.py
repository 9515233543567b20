import sys

import pytest

from ecoc._workers import in_parallel


class Terminal:
    """A standard error that claims to be a terminal."""

    encoding = "utf-8"

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("verbose", [0, 1])
def test_results_keep_their_order_with_and_without_a_bar(monkeypatch, n_jobs, verbose):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    calls = [(2, power) for power in range(9)]
    found = in_parallel(pow, calls, n_jobs=n_jobs, verbose=verbose, require="sharedmem")
    assert found == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert ("columns" in terminal.text) == bool(verbose)


def test_files_get_the_messages_of_joblib(capsys):
    assert in_parallel(pow, [(2, 3)], verbose=1) == [8]
    streams = capsys.readouterr()
    assert "Done" in streams.out + streams.err
    assert "columns" not in streams.err
