import io
import sys

import pytest

from ecoc._workers import ProgressLines
from ecoc.nn.training.strategies import TrainingProgress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "verbose", "shown"),
    [(Terminal(), 1, True), (Terminal(), 0, False), (io.StringIO(), 1, False)],
)
def test_a_terminal_sees_epochs_and_loss(stream, verbose, shown, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with TrainingProgress("columns", 4, verbose=verbose) as progress:
        progress.advance(0.75)
        progress.advance(0.5, 3)
    text = stream.getvalue()
    assert ("4/4" in text) == shown
    assert ("loss 0.5000" in text) == shown


def test_a_log_has_a_line_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(ProgressLines, "_FIRST", 0.0)
    with TrainingProgress("columns", 4, verbose=1) as progress:
        progress.advance(0.5, 3)
    with TrainingProgress("columns", 4, verbose=0) as progress:
        progress.advance(0.5, 3)
    assert capsys.readouterr().err == "columns: 3 of 4 epochs, loss 0.5000 (0 s)\n"
