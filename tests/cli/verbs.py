"""Verbs run in this process."""

from click.testing import CliRunner

from ecoc.cli import main


def ecoc(*arguments, expect=0):
    """What a verb did; it must end with this exit code and no traceback."""
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == expect, result.output
    assert "Traceback" not in result.stderr
    return result
