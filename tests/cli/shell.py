"""The verbs as a shell runs them, but in the process of the tests, which is much faster.

That the installed command does the same is seen in test_common.py and by the examples of the
documents.
"""

import os
from pathlib import Path

from click.testing import CliRunner

from ecoc.cli import main


def ecoc(*arguments, stdin=None, cwd=None, expect=0):
    """Run a verb in a folder; what is expected is an exit code, or a set of them."""
    home = Path.cwd()
    os.chdir(cwd or home)
    try:
        words = [str(argument) for argument in arguments]
        result = CliRunner().invoke(main, words, input=stdin, prog_name="ecoc")
    finally:
        os.chdir(home)
    assert result.exit_code in ({expect} if isinstance(expect, int) else expect), result.output
    assert "Traceback" not in result.stderr
    return result
