"""What the documents show is what happens."""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ecoc.experiments import read_records
from ecoc.report.reproduction_text import reproduction_markdown

ROOT = Path(__file__).parents[1]
ECOC = Path(sys.executable).with_name("ecoc")
README = (ROOT / "README.md").read_text()

pytestmark = pytest.mark.skipif(
    not (ROOT / "Makefile").exists(), reason="the documents are not part of an installed package"
)


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def without_versions(text):
    return re.sub(r"\b\d+\.\d+\.\d+\b", "VERSION", text)


def without_seconds(text):
    return re.sub(r"\d+\.\d+ s\b", "SECONDS", text)


def run_commands(block, folder):
    """Run a console block; return what it shows and what really comes out."""
    shown, real = [], []
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "ecoc"
        result = subprocess.run(
            [ECOC, *arguments], cwd=folder, capture_output=True, text=True, check=True
        )
        shown.append((command, without_versions(output.strip())))
        real.append((command, without_versions(result.stdout.strip())))
    return shown, real


def test_shell_examples_of_the_readme(tmp_path):
    found = blocks(README, "console")
    assert found
    for block in found:
        shown, real = run_commands(block, tmp_path)
        assert shown == real


def test_the_readme_shows_what_the_demo_prints(tmp_path):
    (tmp_path / "demo").mkdir()
    result = subprocess.run(
        ["sh", ROOT / "tools" / "demo.sh", ECOC, "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    (shown,) = re.findall(r"<!-- demo -->\n```text\n(.*?)```", README, re.DOTALL)
    assert without_versions(shown) in without_versions(result.stdout)
    (compared,) = re.findall(r"<!-- comparison -->\n```text\n(.*?)```", README, re.DOTALL)
    assert without_seconds(compared) in without_seconds(result.stdout)
    for page in ("design", "fit", "report"):
        text = (tmp_path / "demo" / f"{page}.html").read_text()
        assert text.startswith("<!doctype html>")


def test_both_commands_are_on_the_first_screen():
    first_screen = "\n".join(README.splitlines()[:25])
    assert "make demo" in first_screen
    assert "make test" in first_screen


def test_the_command_line_page_has_todays_help():
    spec = importlib.util.spec_from_file_location("update_docs", ROOT / "tools/update_docs.py")
    update_docs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(update_docs)
    page = update_docs.PAGE.read_text()
    assert page == update_docs.updated(page), "run python tools/update_docs.py"


def test_links_between_documents_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_the_results_page_is_what_its_records_say():
    page = reproduction_markdown(read_records(ROOT / "docs" / "results"))
    assert (ROOT / "docs" / "results.md").read_text() == page, "run ecoc report docs/results"
