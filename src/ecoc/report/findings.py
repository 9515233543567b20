"""What the paper says, and whether the records bear it out, in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ecoc.experiments.codebooks import CODEBOOK_TITLES, CODEBOOKS
from ecoc.experiments.paper_figures import Figures, paper_table
from ecoc.report.results import Results

__all__ = ["KINDS", "Finding", "findings"]

KINDS = {
    "better": "Better here",
    "holds": "Reproduced",
    "fails": "Not reproduced",
    "open": "Undecided",
    "missing": "Not measured",
}
"""How a finding can come out, with the words for it."""

_NEEDS_DATA = {f"table{number}" for number in range(4, 10)} | {"figure-correlation"}
_NETWORKS = {"table6", "table7", "table8", "table9", "figure-correlation"}
_SHOWN = 10
"""Per cent that count as something to show under attack."""

_DEPENDENT = 0.05
"""Growth of the phi coefficient that counts as dependence."""

_OTHERS = ("dense", "sparse", "one-vs-all")


@dataclass(frozen=True)
class Finding:
    """One statement of the paper, measured again.

    Attributes
    ----------
    experiment : str
        Where it comes from.
    claim : str
        What the paper says.
    kind : str
        A key of :data:`KINDS`.
    text : str
        What was found.
    scale : str
        The scale of the measurements.
    """

    experiment: str
    claim: str
    kind: str
    text: str
    scale: str = ""


def findings(results: Results) -> list[Finding]:
    """Judge every statement from the records alone.

    Examples
    --------
    >>> {finding.kind for finding in findings(Results([]))}
    {'missing'}
    """
    found = []
    for judge in _JUDGES:
        finding = judge(results)
        scale = results.scale(finding.experiment)
        if scale == "smoke" and finding.experiment in _NEEDS_DATA:
            text = "Only a smoke test on a stand-in for the data was run; it says nothing here."
            finding = replace(finding, kind="open", text=text)
        elif scale == "quick" and finding.experiment in _NETWORKS and finding.kind != "missing":
            text = f"{finding.text} Measured with small networks on a subset."
            finding = replace(finding, text=text)
        found.append(replace(finding, scale=scale))
    return found


def _conflicts(results: Results) -> Finding:
    claim = "The number of conflicting pairs of columns for 10 to 18 classes"
    rows = [r for r in results.of("table1") if r.keys["cover"] == "structured" and r.paper]
    if not rows:
        return _missing("table1", claim)
    same = [r for r in rows if r.paper and r.measured["conflicts"] == r.paper["conflicts"]]
    text = f"{len(same)} of {len(rows)} counts agree exactly, by the paper's one-sided rule."
    return Finding("table1", claim, "holds" if len(same) == len(rows) else "fails", text)


def _covers(results: Results) -> Finding:
    claim = "Edge clique covers make the constraint set 16 to 574 times smaller"
    rows = [r for r in results.of("table1") if r.keys["cover"] == "structured" and r.paper]
    if not rows:
        return _missing("table1", claim)
    gains = [r.paper["cliques"] / r.measured["cliques"] for r in rows if r.paper]
    factors = [r.measured["factor"] for r in rows]
    verified = all(r.measured["verified"] for r in rows)
    text = (
        f"{min(factors):.0f} to {max(factors):,.0f} times smaller: the covers have "
        f"{min(gains):.1f} to {max(gains):.1f} times fewer cliques than the paper's, "
        f"{'and every conflicting pair was checked' if verified else 'but some are no covers'}."
    )
    return Finding("table1", claim, "better" if min(gains) > 1 and verified else "fails", text)


def _parts(results: Results) -> Finding:
    claim = "Covers of edge-disjoint parts make a cover of the whole (Lemma 1)"
    rows = [r for r in results.of("table1") if r.keys["cover"] == "partitioned"]
    if not rows:
        return _missing("table1", claim)
    verified = all(r.measured["verified"] for r in rows)
    most = max(int(r.keys["k"]) for r in rows)
    rest = "" if most >= 18 else f" The paper's k = 18 was not run in parts, only up to k = {most}."
    text = f"{len(rows)} covers in parts, all verified edge by edge.{rest}"
    return Finding("table1", claim, "holds" if verified else "fails", text)


def _gaps(results: Results) -> Finding:
    claim = "Codebooks for 10 to 18 classes with low optimality gaps (0 % for six of nine)"
    rows = [r for r in results.of("table2") if r.paper]
    if not rows:
        return _missing("table2", claim)
    proved = [r for r in rows if r.measured["status"] == "OPTIMAL" and r.measured["gap"] == 0]
    longer = [r for r in rows if r.paper and r.measured["best"] > r.paper["best"]]
    classes = ", ".join(str(r.keys["k"]) for r in longer)
    more = f" The distance is larger than the paper's for k = {classes}." if longer else ""
    text = f"{len(proved)} of {len(rows)} are proved optimal, gap 0 %, certificates verified.{more}"
    kind = "better" if len(proved) == len(rows) else "open"
    return Finding("table2", claim, kind, text)


def _toy(results: Results) -> Finding:
    claim = "On the toy set IP3 beats all but 1-vs-1, with less than half its columns"
    figure, name = "accuracy_mean", "table3"
    ours = results.value(name, figure, codebook="ip3", L=20)
    pairs = results.value(name, figure, codebook="one-vs-one")
    others = _known((c, results.value(name, figure, codebook=c)) for c in _OTHERS)
    if ours is None or pairs is None or not others:
        return _missing(name, claim)
    best = max(others, key=lambda pair: pair[1])
    error = 2 * results.error(name, figure, codebook="ip3", L=20)
    text = (
        f"Mean over sets: IP3 with 20 columns {ours:.1f} %, 1-vs-1 {pairs:.1f} %, the best of the "
        f"others {CODEBOOK_TITLES[best[0]]} {best[1]:.1f} % (standard error of a mean "
        f"{error / 2:.1f})."
    )
    return Finding(name, claim, _order(ours, best[1], noise=error), text)


def _tabular(results: Results) -> Finding:
    claim = "IP3 is best on average over Glass, Ecoli and Yeast"
    averages = {}
    errors = []
    for codebook in CODEBOOKS:
        rows = [r for r in results.of("table4") if r.keys["codebook"] == codebook]
        if len(rows) == 3:
            averages[codebook] = sum(r.measured["accuracy"] for r in rows) / 3
            errors += [r.standard_errors.get("accuracy", 0.0) for r in rows]
    if len(averages) < len(CODEBOOKS):
        return _missing("table4", claim)
    listed = ", ".join(f"{CODEBOOK_TITLES[c]} {a:.1f}" for c, a in averages.items())
    best = max(averages.values())
    noise = 2 * math.sqrt(sum(e**2 for e in errors) / len(errors) / 3)
    spread = best - min(averages.values())
    kind = "open" if spread < noise else _order(averages["ip3"], best, noise=noise)
    text = (
        f"Averages over many splits, in per cent: {listed}; differences below {noise:.1f} are "
        "noise."
    )
    # The paper's own table puts Dense first.
    paper = {
        c: sum(
            cell.figures["single_split"]
            for cell in paper_table("table4").cells
            if cell.keys["codebook"] == c
        )
        / 3
        for c in CODEBOOKS
    }
    first = max(paper, key=lambda c: paper[c])
    if first != "ip3":
        text += (
            f" The paper's own figures average {paper[first]:.2f} for {CODEBOOK_TITLES[first]} and "
            f"{paper['ip3']:.2f} for IP3."
        )
    return Finding("table4", claim, kind, text)


def _svm(kernel: str) -> Callable[[Results], Finding]:
    claims = {
        "linear": "Linear SVM on MNIST: IP3 beats all but 1-vs-1, which is far ahead",
        "rbf": "RBF SVM on MNIST: IP3 comes close to 1-vs-1, ahead of the others",
    }

    def judge(results: Results) -> Finding:
        values = dict(
            _known(
                (c, results.value("table5", "accuracy", kernel=kernel, codebook=c))
                for c in CODEBOOKS
            )
        )
        if len(values) < len(CODEBOOKS):
            return _missing("table5", claims[kernel])
        listed = ", ".join(f"{CODEBOOK_TITLES[c]} {a:.2f}" for c, a in values.items())
        best = max(values[c] for c in _OTHERS)
        noise = 2 * results.error("table5", "accuracy", kernel=kernel, codebook="ip3")
        text = f"Accuracies in per cent: {listed}; differences below {noise:.1f} may be chance."
        return Finding("table5", claims[kernel], _order(values["ip3"], best, noise=noise), text)

    return judge


def _ties(results: Results) -> Finding:
    claim = "With linear SVMs IP3 is more accurate than 1-vs-all"
    name, figure = "table5", "accuracy_ties"
    ours = results.value(name, figure, kernel="linear", codebook="ip3")
    other = results.value(name, figure, kernel="linear", codebook="one-vs-all")
    if ours is None or other is None:
        return _missing(name, claim)
    noise = 2 * results.error(name, figure, kernel="linear", codebook="ip3")
    kind = _order(ours, other, noise=noise)
    text = (
        f"With ties between codewords broken by the scores of the columns, IP3 has {ours:.2f} % "
        f"and 1-vs-all {other:.2f} %."
    )
    if kind == "fails":
        text += " The order of the paper comes from ties, which go to the first class there."
    return Finding(name, claim, kind, text)


def _networks(table: str, title: str) -> Callable[[Results], Finding]:
    claim = f"Binary networks on {title}: IP3 is the most accurate codebook"

    def judge(results: Results) -> Finding:
        rows = [r for r in results.of(table) if r.keys["decoding"] != "raw"]
        values = {str(r.keys["codebook"]): float(r.measured["accuracy"]) for r in rows}
        if len(values) < len(CODEBOOKS):
            return _missing(table, claim)
        listed = ", ".join(f"{CODEBOOK_TITLES[c]} {a:.2f}" for c, a in values.items())
        best = max(value for c, value in values.items() if c != "ip3")
        noise = 2 * results.error(table, "accuracy", codebook="ip3")
        text = f"Accuracies in per cent: {listed}; differences below {noise:.1f} may be chance."
        return Finding(table, claim, _order(values["ip3"], best, noise=noise), text)

    return judge


def _robust(table: str, title: str) -> Callable[[Results], Finding]:
    claim = f"On {title}, IP3 is robust to attacks without adversarial training"

    def judge(results: Results) -> Finding:
        ours = results.one(table, codebook="ip3")
        if ours is None or ours.paper is None:
            return _missing(table, claim)
        radii = [name.removeprefix("pgd ") for name in ours.measured if name.startswith("pgd ")]
        told = "; ".join(
            f"{radius}: {ours.paper[f'pgd {radius}']:.0f}, {ours.measured[f'pgd {radius}']:.0f}, "
            f"{ours.measured[f'strong {radius}']:.0f}"
            for radius in radii
        )
        text = (
            "Accuracies in per cent by radius, the paper's figure, ours under its attack, ours "
            f"under the strong one: {told}."
        )
        # The claim is about the largest radius at which the paper has something to show.
        shown = [radius for radius in radii if ours.paper[f"pgd {radius}"] >= _SHOWN]
        if not shown:
            return Finding(table, claim, "open", text)
        strong, paper = (ours.measured[f"strong {shown[-1]}"], ours.paper[f"pgd {shown[-1]}"])
        if strong < paper / 2:
            text += f" At {shown[-1]}, {strong:.0f} % stand where the paper reports {paper:.0f} %."
            return Finding(table, claim, "fails", text)
        return Finding(table, claim, "holds", text)

    return judge


def _certain(results: Results) -> Finding:
    claim = "No accuracy under attack is proved"
    record = results.one("table8", codebook="ip3-ibp")
    proved = {
        name.removeprefix("certified "): value
        for name, value in (record.measured.items() if record else ())
        if name.startswith("certified ")
    }
    if not proved:
        return _missing("table8", claim)
    told = ", ".join(f"{value:.0f} % at {radius}" for radius, value in proved.items() if value > 0)
    text = (
        f"IP3 columns trained with interval bounds are certified, whatever the attack: {told}."
        if told
        else "Interval bounds certify nothing at these radii here either."
    )
    return Finding("table8", claim, "better" if told else "open", text)


def _correlation(results: Results) -> Finding:
    claim = "The error-correlation measure P is far larger on attacked images than on natural ones"
    both = _natural_and_attacked(results)
    if both is None:
        return _missing("figure-correlation", claim)
    before, after = both
    text = (
        f"P grows from {before['mean_p']:.3f} to {after['mean_p']:.3f} on average while the "
        f"accuracy falls from {before['accuracy']:.1f} to {after['accuracy']:.1f} %."
    )
    grows = after["mean_p"] > 2 * before["mean_p"]
    return Finding("figure-correlation", claim, "holds" if grows else "fails", text)


def _dependence(results: Results) -> Finding:
    claim = "So the errors of columns depend on each other under attack"
    both = _natural_and_attacked(results)
    if both is None:
        return _missing("figure-correlation", claim)
    before, after = both
    text = (
        f"Independent errors at the same rates would give P = "
        f"{before['mean_p_if_independent']:.3f} and {after['mean_p_if_independent']:.3f}. The phi "
        f"coefficient, 0 for independent errors at any rate, goes from {before['mean_phi']:.3f} to "
        f"{after['mean_phi']:.3f}."
    )
    depend = after["mean_phi"] > before["mean_phi"] + _DEPENDENT
    return Finding("figure-correlation", claim, "holds" if depend else "fails", text)


def _natural_and_attacked(results: Results) -> tuple[Figures, Figures] | None:
    name = "figure-correlation"
    natural, attacked = results.one(name, inputs="natural"), results.one(name, inputs="adversarial")
    return None if natural is None or attacked is None else (natural.measured, attacked.measured)


def _exhaustive(results: Results) -> Finding:
    claim = "The exhaustive code for five classes (supplement)"
    record = results.one("figure-codebooks", code="exhaustive")
    if record is None:
        return _missing("figure-codebooks", claim)
    same = bool(record.measured.get("same_rows"))
    text = "All 75 entries agree." if same else "The entries differ."
    return Finding("figure-codebooks", claim, "holds" if same else "fails", text)


def _missing(experiment: str, claim: str) -> Finding:
    return Finding(experiment, claim, "missing", f"Run: ecoc reproduce {experiment}")


def _known(pairs: Iterable[tuple[str, float | None]]) -> list[tuple[str, float]]:
    return [(name, value) for name, value in pairs if value is not None]


def _order(ours: float, best_other: float, *, noise: float = 0.0) -> str:
    """Whether ours comes first, as far as chance lets one say."""
    if abs(ours - best_other) <= noise:
        return "open"
    return "holds" if ours > best_other else "fails"


_JUDGES: tuple[Callable[[Results], Finding], ...] = (
    _gaps,
    _conflicts,
    _covers,
    _parts,
    _toy,
    _tabular,
    _svm("linear"),
    _ties,
    _svm("rbf"),
    _networks("table6", "MNIST"),
    _networks("table7", "CIFAR-10"),
    _robust("table8", "MNIST"),
    _certain,
    _robust("table9", "CIFAR-10"),
    _correlation,
    _dependence,
    _exhaustive,
)
