import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from ecoc.errors import InvalidInputError
from ecoc.experiments import PAPER_PARTS, Record, paper_table
from ecoc.experiments.arrays import pack
from ecoc.report.comparisons import comparison, title_of
from ecoc.report.findings import KINDS, findings
from ecoc.report.reproduction_page import reproduction_page
from ecoc.report.reproduction_text import reproduction_markdown
from ecoc.report.results import Results


def measured(part, scale="quick", change=lambda figures: figures, **more):
    """Records of a part as if the paper's own figures had been measured."""
    return [
        Record(part, cell.keys, scale, "ok", cell.figures, change(dict(cell.figures)), **more)
        for cell in paper_table(part).cells
    ]


def table1(cliques=1.0):
    return [
        Record(
            "table1",
            {"k": cell.keys["k"], "cover": "structured"},
            "quick",
            "ok",
            cell.figures,
            {**cell.figures, "cliques": int(cliques * cell.figures["cliques"]), "verified": True},
        )
        for cell in paper_table("table1").cells
        if cell.keys["cover"] == "whole"
    ]


def attacked(strong):
    def change(figures):
        return figures | {f"strong {name[4:]}": strong for name in figures}

    return measured("table8", change=change)


def kind_of(records, experiment, word=""):
    (found,) = [
        finding
        for finding in findings(Results(records))
        if finding.experiment == experiment and word in finding.claim
    ]
    return found.kind


# ------------------------------------------------------------------ the verdicts


def test_same_counts_reproduce_and_one_wrong_does_not():
    records = table1()
    assert kind_of(records, "table1", "number of conflicting") == "holds"
    wrong = replace(records[0], measured={**records[0].measured, "conflicts": 1})
    assert kind_of([*records[1:], wrong], "table1", "number of conflicting") == "fails"


def test_covers_are_better_only_if_smaller_and_verified():
    assert kind_of(table1(0.5), "table1", "Edge clique") == "better"
    assert kind_of(table1(1.0), "table1", "Edge clique") == "fails"
    unchecked = [replace(r, measured={**r.measured, "verified": False}) for r in table1(0.5)]
    assert kind_of(unchecked, "table1", "Edge clique") == "fails"


def test_gaps():
    proved = measured("table2", change=lambda f: f | {"status": "OPTIMAL", "gap": 0, "best": 20})
    assert kind_of(proved, "table2") == "better"
    as_paper = measured("table2", change=lambda f: f | {"status": "FEASIBLE"})
    assert kind_of(as_paper, "table2") == "open"


@pytest.mark.parametrize("part", ["table6", "table7"])
def test_order_of_codebooks(part):
    assert kind_of(measured(part), part) == "holds"
    noisy = measured(part, standard_errors={"accuracy": 3})
    assert kind_of(noisy, part) == "open"
    backwards = measured(part, change=lambda f: {"accuracy": 100 - f["accuracy"]})
    assert kind_of(backwards, part) == "fails"


def test_kernels_are_judged_apart():
    records = measured("table5")
    assert kind_of(records, "table5", "Linear SVM on MNIST") == "holds"
    assert kind_of(records, "table5", "RBF") == "holds"


def test_ties_can_turn_the_order():
    same = measured("table5", change=lambda f: f | {"accuracy_ties": f["accuracy"]})
    assert kind_of(same, "table5", "than 1-vs-all") == "holds"
    turned = measured("table5", change=lambda f: f | {"accuracy_ties": 100 - f["accuracy"]})
    assert kind_of(turned, "table5", "than 1-vs-all") == "fails"


def test_paper_averages_contradict_its_claim():
    records = measured("table4", change=lambda f: {"accuracy": f["single_split"]})
    (found,) = [f for f in findings(Results(records)) if f.experiment == "table4"]
    assert found.kind == "fails"
    assert "71.06 for Dense and 69.86 for IP3" in found.text


def test_robustness_falls_with_a_stronger_attack():
    assert kind_of(attacked(0.0), "table8", "robust") == "fails"
    assert kind_of(attacked(6.0), "table8", "robust") == "fails"  # the paper has 13 at 0.25
    assert kind_of(attacked(7.0), "table8", "robust") == "holds"


def test_certificates_are_what_the_paper_lacks():
    assert kind_of(attacked(0.0), "table8", "proved") == "missing"
    figures = {"pgd 0.1": 90, "strong 0.1": 85, "certified 0.1": 70.0}
    trained = Record("table8", {"codebook": "ip3-ibp"}, "quick", "ok", None, figures)
    assert kind_of([trained], "table8", "proved") == "better"
    figures = {**figures, "certified 0.1": 0.0}
    assert kind_of([replace(trained, measured=figures)], "table8", "proved") == "open"


def correlated(p, phi):
    """Natural images with P = 0.1 and phi = 0, attacked ones with what is given."""
    figures = {"mean_p_if_independent": 0.1, "mean_error": 1.0}
    natural, attacked = measured("figure-correlation", change=lambda f: f | figures)
    return [
        replace(natural, measured={**natural.measured, "mean_p": 0.1, "mean_phi": 0.0}),
        replace(attacked, measured={**attacked.measured, "mean_p": p, "mean_phi": phi}),
    ]


def test_correlation_is_more_than_many_errors():
    assert kind_of(correlated(0.5, 0.0), "figure-correlation", "measure P") == "holds"
    assert kind_of(correlated(0.5, 0.0), "figure-correlation", "depend") == "fails"
    assert kind_of(correlated(0.5, 0.3), "figure-correlation", "depend") == "holds"
    assert kind_of(correlated(0.12, 0.0), "figure-correlation", "measure P") == "fails"


def test_smoke_decides_nothing_about_data():
    assert kind_of(measured("table6", scale="smoke"), "table6") == "open"


def test_larger_scale_wins():
    small, large = measured("table6", scale="smoke"), measured("table6", scale="quick")
    assert {r.scale for r in Results([*large, *small]).of("table6")} == {"quick"}
    failed = [replace(record, status="failed", scale="full") for record in large]
    assert {r.scale for r in Results([*failed, *large]).of("table6")} == {"quick"}


def test_nothing_measured_is_told_for_every_claim():
    assert {finding.kind for finding in findings(Results([]))} == {"missing"}
    assert set(KINDS) >= {finding.kind for finding in findings(Results([]))}


# ---------------------------------------------------------------------- the page


class Reader(HTMLParser):
    """Collects what a checker of pages looks at."""

    VOID = frozenset({"meta", "img", "image", "path", "circle", "rect", "polyline", "br", "link"})

    def __init__(self, page):
        super().__init__()
        self.open, self.ids, self.links, self.headings, self.images = [], [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if tag == "a" else []
        self.headings += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        if tag == "img" or (tag == "svg" and attrs.get("role") == "img"):
            self.images.append(attrs.get("alt") or attrs.get("aria-label"))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def everything():
    """A page with every part, from made-up records."""
    regions = {
        "regions": pack([[0, 1], [2, 3]]),
        "columns": pack([[[0, 1], [1, 0]]]),
        "points": pack([[10, 20]]),
        "classes": pack([3]),
    }
    code = {"rows": ["+-0", "-+-"], "spectrum": {"2": 1, "2.5": 3}}
    matrix = [[0.1, None], [0.2, 0.3]]
    sizes = {"row_distance": 2, "column_distance": 1}
    several = dict.fromkeys(("mean_error", "mean_p", "mean_p_if_independent", "mean_phi"), 0.2)
    return [
        *table1(0.5),
        *measured("table2", change=lambda f: f | {"status": "OPTIMAL", "gap": 0}),
        *measured("table3", change=lambda f: f | {"accuracy_mean": 80.0}),
        *measured("table4", change=lambda f: f | {"accuracy": 70.0}),
        *(record for part in ("table5", "table6", "table7") for record in measured(part)),
        *attacked(1.0),
        *measured("table9", change=lambda f: f | {f"strong {n[4:]}": 0.0 for n in f}),
        *[
            replace(r, keys={**r.keys, "L": 10})
            for r in measured("figure-boundaries", data=regions)
        ],
        *measured(
            "figure-correlation", change=lambda f: f | several, data={"p": matrix, "phi": matrix}
        ),
        *measured("figure-codebooks", change=lambda f: f | sizes, data=code),
    ]


def test_page_has_every_part_and_is_sound():
    reader = Reader(reproduction_page(everything()))
    assert set(PAPER_PARTS) <= set(reader.ids)
    assert {link.removeprefix("#") for link in reader.links} <= set(reader.ids)
    assert reader.open == []
    assert reader.headings[0] == 1
    assert reader.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(reader.headings, reader.headings[1:], strict=False))
    assert len(reader.images) >= 15
    assert all(reader.images)


def test_page_loads_nothing_from_elsewhere():
    page = reproduction_page(everything())
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", page)
    assert not re.search(r"https?://|@import|url\(", page)


def test_figures_stand_beside_each_other_with_where_they_come_from():
    records = measured(
        "table5",
        change=lambda f: {"accuracy": f["accuracy"] - 1.5},
        standard_errors={"accuracy": 0.25},
        subset="6,000 of 60,000 samples",
        seed=3,
        seconds=12.0,
    )
    page = reproduction_page(records)
    (row,) = [row for row in re.findall(r"<tr>.*?</tr>", page) if 'data-key="80.37"' in row]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", row)
    assert cells[:5] == ["linear", "IP3", "80.37", "78.87 ± 0.25", "-1.50"]
    assert cells[-1] == "quick, seed 3, 12.0 s: 6,000 of 60,000 samples"


def test_what_was_not_measured_is_said():
    page = reproduction_page(table1())
    assert "not measured at these scales: k 18, cover partitioned" in page
    failed = Record("table2", {"k": 10, "L": 20}, "quick", "failed", note="<b>bad</b>")
    page = reproduction_page([failed])
    assert "Failed: k 10, L 20. &lt;b&gt;bad&lt;/b&gt;" in page


@pytest.mark.parametrize("write", [reproduction_page, reproduction_markdown])
def test_no_records(write):
    with pytest.raises(InvalidInputError, match="ecoc reproduce"):
        write([])


def test_markdown_has_the_same_figures_as_the_page():
    text = reproduction_markdown(everything())
    page = reproduction_page(everything())
    assert all(f"## {title_of(part)}" in text for part in PAPER_PARTS)
    for part in PAPER_PARTS:
        rows = comparison(part, Results(everything()).of(part)).rows
        assert rows
        for row in rows:
            assert f"| {row[0].text} | {row[1].text} |" in text
            assert f">{row[1].text}</td>" in page
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == 13
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
