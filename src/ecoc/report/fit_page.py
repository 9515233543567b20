"""The page of a classifier that was trained on a table."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ecoc.report.page import page
from ecoc.report.parts import drawing, facts_table, plain_table

if TYPE_CHECKING:
    from ecoc.tables import HeldOut, TableFit

__all__ = ["fit_page"]


def fit_page(fit: TableFit) -> str:
    """A page that shows a training: how good it is, beside what, and where it errs."""
    chosen = fit.comparison.names[0]
    headline = (
        f"{100 * fit.accuracy:.2f} % of held-out rows are right with the {chosen} codebook "
        f"({fit.comparison.splits})."
    )
    parts = [
        f"<p><strong>{escape(headline)}</strong></p>",
        facts_table(fit.facts),
        "<h2>Beside the usual codebooks</h2>",
        plain_table(fit.comparison.table()),
        (
            "<p>Accuracies are means and standard errors over the folds. Intervals of the paired "
            "differences allow for training sets that overlap; <em>level</em> is what they call "
            "a difference that may be none.</p>"
        ),
        drawing(fit.comparison.plot(), "Accuracy of each codebook on the same folds"),
        "<h2>The codebook</h2>",
        fit.model.classifier.codebook_._repr_html_(),
        *_diagnosed(fit.held_out),
        "<h2>Rows of each class</h2>",
        facts_table(fit.class_sizes),
    ]
    return page(f"Classifier for {fit.target}", "\n".join(parts))


def _diagnosed(held_out: HeldOut | None) -> list[str]:
    if held_out is None:
        return [
            "<h2>The columns</h2>",
            (
                "<p>The codebook depends on the training data, so that every fold has another: "
                "the columns were not diagnosed.</p>"
            ),
        ]
    found = [held_out.errors, held_out.usefulness, held_out.confusion, held_out.correlation]
    drawings = [
        drawing(result.plot(), repr(result).strip("<>").partition(": ")[2])
        for result in found
        if result is not None
    ]
    return [
        "<h2>Where it errs</h2>",
        (
            "<p>Counted on rows that the columns were not trained on. P grows with the error rates "
            "even if errors are independent; phi is then 0. Grey: not defined, such as for "
            "columns that make no error.</p>"
        ),
        f'<div style="display:flex;flex-wrap:wrap;gap:1.5em">{"".join(drawings)}</div>',
    ]
