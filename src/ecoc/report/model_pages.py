"""The pages of a trained classifier, of an evaluation under attack, and of a certification."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ecoc.report.page import drawing, facts_table, page, plain_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecoc.robustness import Certification, RobustnessResult
    from ecoc.tables import HeldOut, TableFit

__all__ = ["attack_page", "certificate_page", "fit_page"]


def attack_page(result: RobustnessResult, facts: Mapping[str, object]) -> str:
    """A page that shows what attacks left of a model's accuracy, and what casts doubt on it.

    Parameters
    ----------
    result : RobustnessResult
        What was found.
    facts : mapping
        What was attacked, for the table on top.
    """
    named = {"attacked": result.attacked, "paper": result.paper, "certified": result.certified}
    shown = {name: values for name, values in named.items() if values is not None}
    lines = [["radius", *shown]]
    for i, epsilon in enumerate(result.epsilons):
        lines.append([f"{epsilon:g}", *(f"{100 * values[i]:.1f} %" for values in shown.values())])
    warned = "".join(f"<li>{escape(warning)}</li>" for warning in result.warnings)
    breakers = [["attack", "samples broken first"]]
    breakers += [[name, str(count)] for name, count in result.found_by.items()]
    parts = [
        facts_table({**facts, "Protocol": result.protocol, "Norm": result.norm}),
        "<h2>Accuracy under attack</h2>",
        plain_table(lines),
        (
            "<p>An accuracy under attack is an upper bound: a better attack could lower it. "
            "A certified accuracy is a lower bound, by proof.</p>"
        ),
        drawing(result.plot(), "Accuracy over the radius of the attack"),
        "<h2>Signs that the attack was misled</h2>",
        f"<ul>{warned}</ul>" if warned else "<p>None was seen.</p>",
        "<h2>Which attack broke the samples</h2>",
        plain_table(breakers),
    ]
    return page("Robustness under attack", "\n".join(parts))


def certificate_page(result: Certification, facts: Mapping[str, object]) -> str:
    """A page that shows which predictions are proved to stand.

    Parameters
    ----------
    result : Certification
        What was proved.
    facts : mapping
        What was certified, for the table on top.
    """
    shares = result.certified_accuracy or result.certified_share
    lines = [["radius", "right and certified", "certified, right or wrong"]]
    for i, epsilon in enumerate(result.epsilons):
        cells = (shares[i], result.certified_share[i])
        lines.append([f"{epsilon:g}", *(f"{100 * value:.1f} %" for value in cells)])
    parts = [
        facts_table({**facts, "Bounds": result.method, "Decoding": result.decoding}),
        "<h2>Certified accuracy</h2>",
        plain_table(lines),
        drawing(result.plot(), "Certified accuracy over the radius"),
        "<h2>What is guaranteed</h2>",
        f"<p>{escape(result.guarantee)}</p>",
    ]
    return page("Certified robustness", "\n".join(parts))


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
    diagnostics = [held_out.errors, held_out.usefulness, held_out.confusion, held_out.correlation]
    drawings = [
        drawing(result.plot(), repr(result).strip("<>").partition(": ")[2])
        for result in diagnostics
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
