"""Write the help of every verb into docs/command-line.md, so that it cannot go stale.

Run ``python tools/update_docs.py``; a test fails while the file differs from the help.
"""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from ecoc.cli import main

PAGE = Path(__file__).parents[1] / "docs" / "command-line.md"


def help_text(*verb: str) -> str:
    """What ``ecoc VERB -h`` prints."""
    result = CliRunner().invoke(main, [*verb, "-h"], prog_name="ecoc", terminal_width=88)
    return result.stdout


def nested(verb: str) -> list[str]:
    """The verbs below a verb, if it has any."""
    listed = help_text(verb).partition("Commands:")[2]
    return [f"{verb} {name}" for name in re.findall(r"^  ([\w-]+) ", listed, re.MULTILINE)]


def updated(page: str) -> str:
    """The page with the help texts of today between its headings."""
    verbs = re.findall(r"^  ([\w-]+) ", help_text().partition("Commands:")[2], re.MULTILINE)
    verbs = [verb for name in verbs for verb in (name, *nested(name))]
    parts = [f"### ecoc {verb}\n\n```text\n{help_text(*verb.split())}```\n" for verb in verbs]
    before, rest = page.split("<!-- verbs -->\n", 1)
    after = rest[rest.index("## Shell completion") :]
    return f"{before}<!-- verbs -->\n\n{chr(10).join(parts)}\n{after}"


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text()))
