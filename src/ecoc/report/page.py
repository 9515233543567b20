"""The look that all pages share: one file, no network, light and dark, good on paper."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ecoc._version import __version__
from ecoc.errors import InvalidInputError
from ecoc.report.parts import facts_table

if TYPE_CHECKING:
    from ecoc.codes import Codebook
    from ecoc.design import Design

__all__ = ["codebook_page", "design_page", "page"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --soft: #5b6675; --line: #d5dae1; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ee; --paper: #14181f; --soft: #a4afbd; --line: #37404d; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 2rem 1.5rem 3rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3em; }
h2 { font-size: 1.2rem; margin: 2em 0 .6em; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; }
pre { overflow-x: auto; padding: .8em 1em; border: 1px solid var(--line); border-radius: .4em; }
table { border-collapse: collapse; }
th, td { padding: .25em 1em .25em 0; text-align: left; border-bottom: 1px solid var(--line); }
footer { margin-top: 3em; padding-top: .8em; border-top: 1px solid var(--line);
  color: var(--soft); font-size: .85em; }
@media print { body { max-width: none; padding: 0; } h2 { break-after: avoid; }
  figure, table { break-inside: avoid; } }
"""


def page(title: str, body: str, *, head: str = "") -> str:
    """Wrap an HTML fragment into a page of its own.

    Parameters
    ----------
    title : str
        Plain text; it becomes the heading too.
    body : str
        HTML, already escaped.
    head : str
        More for the head of the page, such as styles of its own.
    """
    heading = escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{heading}</title>\n<style>{_STYLE}</style>\n{head}</head>\n"
        f"<body>\n<main>\n<h1>{heading}</h1>\n{body}\n</main>\n"
        f"<footer>Made with ecoc {escape(__version__)}.</footer>\n</body>\n</html>\n"
    )


def design_page(design: Design) -> str:
    """A page that shows a design: what was wanted, what was found, and what is proved."""
    if design.codebook is None:
        raise InvalidInputError("A design without a codebook has no page.")
    wanted = {key: value for key, value in design.problem.to_plain().items() if value is not None}
    wanted.pop("target_distances", None)
    notes = "".join(f"<li>{escape(note)}</li>" for note in design.notes)
    proof = {} if design.certificate is None else design.certificate.facts
    from ecoc.design import unverified

    doubt = unverified(design)
    parts = [
        f"<p><strong>{escape(design.verdict)}</strong></p>",
        f"<p>Not verified: {escape(doubt)}</p>" if doubt else "",
        f"<ul>{notes}</ul>" if notes else "",
        *_codebook_parts(design.codebook),
        f"<h2>What was wanted</h2>\n{facts_table(wanted)}",
        f"<h2>What stands behind the bound</h2>\n{facts_table(proof)}" if proof else "",
    ]
    return page("Codebook design", "\n".join(part for part in parts if part))


def codebook_page(codebook: Codebook) -> str:
    """A page that shows a codebook: its picture, its figures, and how it was made."""
    return page("Codebook", "\n".join(_codebook_parts(codebook)))


def _codebook_parts(codebook: Codebook) -> list[str]:
    parts = [codebook._repr_html_()]
    provenance = codebook.provenance
    if provenance is not None:
        facts = dict(provenance.parameters)
        if provenance.seed is not None:
            facts["seed"] = provenance.seed
        table = facts_table({"method": provenance.method, **facts})
        parts.append(f"<h2>How it was made</h2>\n{table}")
    rows_text = "\n".join(codebook.rows[:400])
    if codebook.n_columns <= 400:
        parts.append(f"<h2>The matrix as text</h2>\n<pre>{rows_text}</pre>")
    return parts
