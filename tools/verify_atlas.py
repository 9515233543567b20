"""Verify the cells of an atlas with both verifiers: that of the library, and the stand-alone one.

    python tools/verify_atlas.py [--atlas FOLDER] [--symbols Q ...] [--every N] [--classes K K]

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
    try:
        status, _ = tool.judge(path)
    except tool.StopError as stop:
        status = stop.args
    if status != (tool.OPTIMAL if cell.is_proved else tool.FEASIBLE):
        wrong.append(f"the stand-alone verifier says {status}")
    return wrong


def main():
    """Verify, and say how many cells hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--atlas", help="the folder; that of the package by default")
    parser.add_argument("--symbols", type=int, nargs="*")
    parser.add_argument("--every", type=int, default=1, help="one cell in so many")
    parser.add_argument("--classes", type=int, nargs=2, default=(2, 1 << 14), metavar="K")
    given = parser.parse_args()
    atlas = packaged_atlas() if given.atlas is None else Atlas(given.atlas)
    tool, began, counts = load_tool(), time.monotonic(), Counter()
    least, most = given.classes
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.json"
        for q in given.symbols or atlas.symbols:
            for i, cell in enumerate(atlas.cells(q)):
                if i % given.every or not least <= cell.n_classes <= most:
                    continue
                wrong = faults(cell, tool, path)
                counts["refused"] += bool(wrong)
                counts["proved" if cell.is_proved else "gaps"] += 1
                if wrong:
                    print(f"{q}/{cell.n_classes}/{cell.n_columns}: {'; '.join(wrong)}")
                if (counts["proved"] + counts["gaps"]) % 2000 == 0:
                    print(dict(counts), cell.n_classes, round(time.process_time()), file=sys.stderr)
    print(
        f"{counts['proved'] + counts['gaps']} cells verified by both: {counts['proved']} proved, "
        f"{counts['gaps']} gaps, {counts['refused']} refused, {time.monotonic() - began:.0f} s, "
        f"{time.process_time():.0f} CPU s"
    )
    return 5 if counts["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
