"""Records as if the paper's own figures had been measured."""

from ecoc.paper import Record, paper_table


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
