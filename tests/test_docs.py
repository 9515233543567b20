"""What the documents show is what happens."""

import importlib.util
import re
import shlex
import subprocess
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

import ecoc
from ecoc.cli import main
from ecoc.paper import read_records
from ecoc.report import reproduction_markdown

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

pytestmark = pytest.mark.skipif(
    not (ROOT / "Makefile").exists(), reason="the documents are not part of an installed package"
)


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def without_versions(text):
    return re.sub(r"\b\d+\.\d+\.\d+\b", "VERSION", text)


def without_seconds(text):
    return re.sub(r"\d+\.\d+ s\b", "SECONDS", text)


def run(command):
    """Run a line of a console block; return what it prints on standard output."""
    if command.startswith("ecoc "):
        result = CliRunner().invoke(main, shlex.split(command)[1:])
        assert result.exit_code == 0, f"{command}: {result.output}"
        return result.stdout
    return subprocess.run(
        ["sh", "-euc", command], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    "document",
    [
        # Two fits of a whole table take as long as all other pages together.
        pytest.param(page, marks=pytest.mark.slow if page.name == "quick-start.md" else ())
        for page in DOCUMENTS
        if blocks(page.read_text(), "console")
    ],
    ids=lambda page: page.name,
)
def test_console_lines_run_and_print_what_is_shown(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block in blocks(document.read_text(), "console"):
        assert block.startswith("$ ")
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            printed = run(command)
            if shown.strip():
                assert without_versions(printed.strip()) == without_versions(shown.strip())


def test_lines_that_do_not_run_say_why():
    for document in DOCUMENTS:
        text = document.read_text()
        for match in re.finditer(
            r"^```(?:sh|bash|shell)\n(.*?)^```", text, re.DOTALL | re.MULTILINE
        ):
            if re.search(r"^(\$ )?ecoc ", match[1], re.MULTILINE):
                before = text[: match.start()].rstrip().splitlines()[-1]
                assert before.startswith("<!-- not run: "), f"{document.name}: {match[1]}"


@pytest.mark.slow
def test_the_readme_shows_what_the_demo_prints(tmp_path, monkeypatch):
    """The script says what is run, and all of it runs in this process, which is much faster."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    teller = tmp_path / "ecoc"
    teller.write_text('#!/bin/sh\nprintf "run: ecoc %s\\n" "$*"\n')
    teller.chmod(0o755)
    told = run(f"sh '{ROOT / 'tools' / 'demo.sh'}' '{teller}' demo")
    parts = re.split(r"^run: (ecoc .*\n)", told, flags=re.MULTILINE)
    assert len(parts) > 20
    printed = "".join(run(part) if place % 2 else part for place, part in enumerate(parts))
    (shown,) = re.findall(r"<!-- demo -->\n```text\n(.*?)```", README, re.DOTALL)
    assert without_versions(shown) in without_versions(printed)
    (compared,) = re.findall(r"<!-- comparison -->\n```text\n(.*?)```", README, re.DOTALL)
    assert without_seconds(compared) in without_seconds(printed)
    for page in ("design", "fit", "report"):
        text = (tmp_path / "demo" / f"{page}.html").read_text()
        assert text.startswith("<!doctype html>")


def test_both_commands_are_on_the_first_screen():
    first_screen = "\n".join(README.splitlines()[:25])
    assert "make demo" in first_screen
    assert "make test" in first_screen


def test_the_readme_begins_with_what_a_reader_needs():
    places = [README.index(text) for text in ("pip install", "make demo", "error-correction.png")]
    assert places == sorted(places)
    assert README.index("Gupta & Amin") < README.index("the paper")
    assert "```bibtex" in README


def test_the_citation_has_the_version_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {ecoc.__version__}\n" in citation
    assert f"version = {{{ecoc.__version__}}}" in README


def test_everything_public_has_its_place_in_the_api():
    listed = {}
    for page in (ROOT / "docs" / "api").glob("*.md"):
        for room, names in re.findall(
            r"currentmodule:: (\S+)\n\n\.\. autosummary::\n(?:   :.*\n)+\n((?:   \w+\n)+)",
            page.read_text(),
        ):
            listed.setdefault(room, []).extend(names.split())
        for room, name in re.findall(r"py:data:: (\S+)\.(\w+)", page.read_text()):
            listed.setdefault(room, []).append(name)
    everything = [name for names in listed.values() for name in names]
    for room, names in listed.items():
        public = {
            name
            for name in import_module(room).__all__
            if not name.startswith("__")
            and not isinstance(getattr(import_module(room), name), ModuleType)
        }
        missing = public - set(everything)
        assert not missing, f"docs/api has no {room}.{', '.join(sorted(missing))}"
        assert set(names) <= public, f"{room} has no {set(names) - public}"
    # A function of this name reads classifiers, and another one networks.
    assert [name for name, n in Counter(everything).items() if n > 1] == ["load_model"]


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


def test_what_contributors_are_told_of_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    package = ROOT / "src" / "ecoc"
    folders = (ROOT, package, package / "bounds")
    paths = re.findall(r"`((?:\w+/)+(?:[a-z0-9_]+\.py)?)`", text)
    assert len(paths) > 30
    assert [path for path in paths if not any((top / path).exists() for top in folders)] == []
    source = "\n".join(path.read_text() for path in package.rglob("*.py"))
    names = {name for name in re.findall(r"`@?(\w+)`", text) if name not in {"console", "sh"}}
    modules = {path.stem for path in package.glob("*.py")}
    defined = set(re.findall(r"^ *(?:def|class) (\w+)", source, re.MULTILINE))
    assert names - defined - modules == set()


def test_every_room_is_in_the_picture_of_the_house():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    package = ROOT / "src" / "ecoc"
    rooms = {path.parent.relative_to(package).as_posix() for path in package.rglob("*/__init__.py")}
    listed = set(re.findall(r"^\| `([\w/]+)/`", text, re.MULTILINE))
    assert rooms - listed == {"bounds/checking"}
    assert listed <= rooms
