"""Records as if the paper's own figures had been measured."""

from ecoc.paper import VERDICTS, Record, paper_table
from ecoc.paper.records import results_by_table
from ecoc.paper.reproduction import findings


def measured(part, scale="quick", change=lambda figures: figures, **more):
    """Records of a part as if the paper's own figures had been measured."""
    return [
        Record(part, cell.keys, scale, "ok", cell.figures, change(dict(cell.figures)), **more)
        for cell in paper_table(part).printed
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
        for cell in paper_table("table1").printed
        if cell.keys["cover"] == "whole"
    ]


def attacked(strong):
    def change(figures):
        return figures | {f"strong {name[4:]}": strong for name in figures}

    return measured("table8", change=change)


def verdict_of(records, table, word=""):
    """The verdict on the one claim of a table that has this word."""
    (found,) = [
        finding
        for finding in findings(results_by_table(records))
        if finding.table == table and word in finding.claim
    ]
    assert found.verdict in VERDICTS
    return found.verdict
