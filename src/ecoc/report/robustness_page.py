"""The pages of an evaluation under attack, and of a certification."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ecoc.report.page import page
from ecoc.report.parts import drawing, facts_table, plain_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecoc.robustness import Certification, RobustnessResult

__all__ = ["attack_page", "certificate_page"]


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
