"""The pages of a trained classifier, of an evaluation under attack, and of a certification."""

from __future__ import annotations

from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from ecoc.report.page import drawing, facts_table, heat_table, page, plain_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecoc.multiclass.diagnostics import Comparison
    from ecoc.robustness import Certification, RobustnessResult
    from ecoc.tables import HeldOut, TableFit

__all__ = ["attack_page", "certificate_page", "fit_page"]

_MOST_SHOWN = 40
"""The classes of a confusion matrix that a person still reads."""


def attack_page(result: RobustnessResult, facts: Mapping[str, object]) -> str:
    """A page that shows what attacks left of a model's accuracy, and what casts doubt on it.

    Parameters
    ----------
    result : RobustnessResult
        What was found.
    facts : mapping
        What was attacked, for the table on top.
    """
    from ecoc.robustness.result import shown_share

    columns = result.columns
    lines = [["radius", *columns]]
    for i, epsilon in enumerate(result.epsilons):
        lines.append([f"{epsilon:g}", *(shown_share(values[i]) for values in columns.values())])
    warned = "".join(f"<li>{escape(warning)}</li>" for warning in result.warnings)
    breakers = [["attack", "samples broken first"]]
    breakers += [[name, str(count)] for name, count in result.found_by.items()]
    parts = [
        facts_table({**facts, "Protocol": result.protocol, "Norm": result.norm}),
        "<h2>Accuracy under attack</h2>",
        plain_table(lines),
        f"<p>Withheld: {escape(result.withheld)}</p>" if result.withheld else "",
        (
            "<p>An accuracy under attack is an upper bound: a better attack could lower it. "
            "A certified accuracy is a lower bound, by proof.</p>"
        ),
        f'<div class="charts">{drawing(result.plot(), "Accuracy over the radius")}</div>',
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
        f'<div class="charts">{drawing(result.plot(), "Certified accuracy over the radius")}</div>',
        "<h2>What is guaranteed</h2>",
        f"<p>{escape(result.guarantee)}</p>",
    ]
    return page("Certified robustness", "\n".join(parts))


def fit_page(fit: TableFit) -> str:
    """A page that shows a training: how good it is, beside what, and what it confuses."""
    name = PurePath(fit.source).name
    hints = "".join(f"<li>{escape(hint)}</li>" for hint in fit.hints)
    facts = {key: value for key, value in fit.facts.items() if key != "Notes"}
    notes = "".join(f"<li>{escape(note)}</li>" for note in fit.notes)
    parts = [
        f"<p><strong>{escape(_headline(fit))}</strong></p>",
        f"<ul>{hints}</ul>" if hints else "",
        facts_table(facts),
        f"<h2>What was made of the table</h2>\n<ul>{notes}</ul>" if notes else "",
        *_compared(fit.comparison),
        *_classes(fit),
        *_reliability(fit.held_out),
        "<h2>The codebook</h2>",
        fit.codebook._repr_html_(),
        *_columns(fit.held_out),
    ]
    return page(f"Predicting {fit.target} from {name}", "\n".join(part for part in parts if part))


def _headline(fit: TableFit) -> str:
    if fit.comparison is None or fit.held_out is None:
        return "Trained on all rows; nothing was held out, so that its accuracy is not known."
    return (
        f"{100 * fit.comparison.means[0]:.2f} % of held-out rows are right, "
        f"{100 * fit.held_out.report.balanced_accuracy:.2f} % in the mean of the classes, with "
        f"the {fit.comparison.names[0]} codebook: {fit.comparison.splits.text}."
    )


def _compared(comparison: Comparison | None) -> list[str]:
    if comparison is None:
        return []
    return [
        "<h2>Beside other ways</h2>",
        (
            "<p>All are trained and judged on the same rows. <em>Plain</em> is the learner "
            "without a code; the forest has 100 trees.</p>"
        ),
        plain_table(comparison.table()),
        f'<div class="charts">{drawing(comparison.plot(), "Accuracy on the same rows")}',
        (
            "<p>Accuracies are means with standard errors; <em>balanced</em> is the mean of the "
            "classes. Intervals of the paired differences allow for training sets that overlap; "
            "<em>level</em> is what they call a difference that may be none.</p></div>"
        ),
    ]


def _classes(fit: TableFit) -> list[str]:
    if fit.held_out is None:
        return ["<h2>Rows of each class</h2>", facts_table(fit.class_sizes)]
    report = fit.held_out.report
    wrong = report.counts.sum(axis=0) + report.support - 2 * np.diag(report.counts)
    shown = np.sort(np.argsort(-wrong, kind="stable")[:_MOST_SHOWN])
    caption = "A row for each class, a column for each class it was given; right ones are blue."
    if len(shown) < len(report.classes):
        caption += f" The {len(shown)} classes with the most errors of {len(report.classes)}."
    pairs = [
        ["class", "taken for", "rows"],
        *([a, b, str(count)] for a, b, count in report.confusions()),
    ]
    return [
        "<h2>What is confused</h2>",
        heat_table(
            report.counts[np.ix_(shown, shown)].tolist(),
            [report.classes[place] for place in shown],
            caption=caption,
            across="taken for",
        ),
        (
            "<p>Precision: how much of what was given a class has it. Recall: how much of a class "
            "was given it. Counted on held-out rows, each of them once.</p>"
        ),
        (
            f'<div class="charts">{plain_table(report.table())}'
            f"{plain_table(pairs) if len(pairs) > 1 else ''}</div>"
        ),
    ]


def _reliability(held_out: HeldOut | None) -> list[str]:
    if held_out is None:
        return []
    title = "<h2>Can its probabilities be believed?</h2>"
    reliability = held_out.reliability
    if reliability is None:
        return [
            title,
            (
                "<p>It has none, because its learner has none: <code>--calibration sigmoid</code> "
                "adds them.</p>"
            ),
        ]
    off = 100 * reliability.expected_calibration_error
    told = f"Reliability diagram: expected calibration error {off:.1f} points"
    return [
        title,
        f'<div class="charts">{drawing(reliability.plot(), told)}',
        (
            f"<p>Probability and share of right predictions are {off:.1f} points apart in the "
            f"mean (expected calibration error); the log loss is {reliability.log_loss:.3f}. "
            "On the dashed line a probability says what is so; below it, it says too much.</p>"
            "</div>"
        ),
    ]


def _columns(held_out: HeldOut | None) -> list[str]:
    if held_out is None:
        return []
    diagnostics = [held_out.errors, held_out.usefulness, held_out.confusion, held_out.correlation]
    drawings = [
        drawing(result.plot(), repr(result).strip("<>").partition(": ")[2])
        for result in diagnostics
        if result is not None
    ]
    if not drawings:
        return [
            "<h2>The columns</h2>",
            (
                "<p>The codebook depends on the training data, so that every fold has another: "
                "the columns were not diagnosed.</p>"
            ),
        ]
    return [
        "<h2>The columns</h2>",
        (
            "<p>Counted on rows that the columns were not trained on. P grows with the error rates "
            "even if errors are independent; phi is then 0. Grey: not defined, such as for "
            "columns that make no error.</p>"
        ),
        f'<div class="charts">{"".join(drawings)}</div>',
    ]
