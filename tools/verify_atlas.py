"""Verify the cells of an atlas with both verifiers: that of the library, and the stand-alone one.

    python tools/verify_atlas.py [--atlas FOLDER] [--symbols Q ...] [--every N] [--most-classes K]

Each cell is expanded from its recipe, written as a design file, and judged by what `ecoc verify`
runs and by `tools/verify_design.py`, which shares nothing with the library. The figures of its
record must be those of the codebook. Prints cells, proved ones, gaps and seconds; exits with 5 if
a cell is refused.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from ecoc.atlas import Atlas, packaged_atlas
from ecoc.design import Design, read_design
from ecoc.errors import EcocError

TOOL = Path(__file__).with_name("verify_design.py")
MOST_ROWS = 1024
"""Past this many rows the stand-alone verifier, which compares all pairs, takes minutes."""


def load_tool():
    """The stand-alone verifier as a module."""
    spec = importlib.util.spec_from_file_location("verify_design", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def faults(cell, tool, path):
    """What is wrong with a cell."""
    try:
        Design.from_cell(cell).save(path)
        design = read_design(path, time_limit=None)
    except EcocError as error:
        return [str(error)]
    codebook = design.codebook
    wrong = []
    if (design.objective, design.bound) != (cell.distance, cell.bound):
        wrong.append(f"distance {design.objective} and bound {design.bound}")
    if int(codebook.min_column_distance() or 0) != cell.separation:
        wrong.append(f"columns are {codebook.min_column_distance()} apart")
    if round(codebook.column_balance().max_imbalance * cell.n_classes) != cell.imbalance:
        wrong.append("another imbalance")
    apart = design.separation_certificate
    if (None if apart is None else apart.bound) != cell.separation_bound:
        wrong.append("another bound on the separation")
    if cell.n_classes <= MOST_ROWS:
        try:
            status, _ = tool.judge(path)
        except tool.StopError as stop:
            status = stop.args
        wanted = tool.OPTIMAL if cell.is_proved else tool.FEASIBLE
        if status != wanted:
            wrong.append(f"the stand-alone verifier says {status}")
    return wrong


def main():
    """Verify, and say how many cells hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--atlas", help="the folder; that of the package by default")
    parser.add_argument("--symbols", type=int, nargs="*")
    parser.add_argument("--every", type=int, default=1, help="one cell in so many")
    parser.add_argument("--most-classes", type=int, default=1 << 14)
    given = parser.parse_args()
    atlas = packaged_atlas() if given.atlas is None else Atlas(given.atlas)
    tool, began, counts = load_tool(), time.monotonic(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.json"
        for q in given.symbols or atlas.symbols:
            for i, cell in enumerate(atlas.cells(q)):
                if i % given.every or cell.n_classes > given.most_classes:
                    continue
                wrong = faults(cell, tool, path)
                counts["refused"] += bool(wrong)
                counts["proved" if cell.is_proved else "gaps"] += 1
                if wrong:
                    print(f"{q}/{cell.n_classes}/{cell.n_columns}: {'; '.join(wrong)}")
                if sum(counts.values()) % 2000 == 0:
                    print(dict(counts), round(time.monotonic() - began), file=sys.stderr)
    cells = counts["proved"] + counts["gaps"]
    print(
        f"{cells} cells verified by both: {counts['proved']} proved, {counts['gaps']} gaps, "
        f"{counts['refused']} refused, {time.monotonic() - began:.0f} s"
    )
    return 5 if counts["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
