import json
import runpy
import sys
from functools import reduce
from operator import xor
from pathlib import Path

import pytest

from ecoc.graphs import ConflictGraph, verify_cover
from ecoc.graphs.structured import (
    CoverTable,
    list_generators,
    load_tables,
    place_shapes,
    table_shapes,
)

ROOT = Path(__file__).parents[2]
SHIPPED = [
    pytest.param(separation, table, id=f"{separation}-{table.min_column_distance}-{i}")
    for separation in ("one-sided", "two-sided")
    for i, table in enumerate(load_tables(separation))
]


@pytest.mark.parametrize(("separation", "table"), SHIPPED)
def test_a_shipped_table_serves_all_the_graphs_it_says(separation, table):
    # benchmarks/covers.py looks at every edge of the larger ones.
    most = min(max(12, table.min_generators), 14, len(table.syndromes))
    for n_generators in range(table.min_generators, most + 1):
        k = n_generators + (separation == "one-sided")
        graph = ConflictGraph(k, table.min_column_distance, separation)
        cover = place_shapes(table_shapes(table, list_generators(k, separation)), graph)
        assert verify_cover(graph, cover).verified


@pytest.mark.parametrize(("separation", "table"), SHIPPED)
def test_a_shipped_table_is_well_formed(separation, table):
    assert CoverTable.from_json(json.loads(json.dumps(table.to_json()))) == table
    if separation == "two-sided":
        assert reduce(xor, table.syndromes) == 0
        assert table.min_generators == len(table.syndromes)


@pytest.fixture
def find_covers(monkeypatch, capsys, tmp_path):
    """The script, in the process of the tests: what it prints, and the tables it writes."""
    tools = ROOT / "tools"
    monkeypatch.syspath_prepend(tools)
    output = tmp_path / "tables.json"

    def run(*arguments):
        words = ["find_covers.py", *map(str, arguments), "--output", str(output)]
        monkeypatch.setattr(sys, "argv", words)
        runpy.run_path(str(tools / "find_covers.py"), run_name="__main__")
        return capsys.readouterr().out, json.loads(output.read_text(encoding="utf-8"))["tables"]

    return run


HAMMING = ("--syndromes", "1 2 4 3 6 7 5")


@pytest.mark.parametrize(
    ("rho", "separation", "limit", "options"),
    [
        (3, "two-sided", 120, ()),
        (4, "one-sided", 320, ()),
        (3, "one-sided", 112, ()),
        (4, "one-sided", 320, (*HAMMING, "--directions", "5")),
        (5, "one-sided", 112, (*HAMMING, "--rotate", "7", "--squares")),
    ],
)
def test_the_search_finds_small_covers_again(find_covers, rho, separation, limit, options):
    k = 8
    arguments = (k, rho, "--separation", separation, "--syndrome-bits", 4, "--codes", 6)
    said, (entry,) = find_covers(*arguments, "--rounds", 5, *options)
    assert "verified (every edge" in said
    graph = ConflictGraph(k, rho, separation)
    shapes = table_shapes(CoverTable.from_json(entry), list_generators(k, separation))
    cover = place_shapes(shapes, graph)
    assert verify_cover(graph, cover).verified
    assert cover.n_cliques <= limit
