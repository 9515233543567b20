"""Our constructions beside the best codes that are published.

    python benchmarks/published_codes.py                    # seconds
    python benchmarks/published_codes.py --all              # every length up to 128
    python benchmarks/published_codes.py --count 40         # 40 cells of them made and counted
    python benchmarks/published_codes.py --tables FOLDER    # where GUAVA's tables are
    python benchmarks/published_codes.py --smoke            # seconds

A cell is a number of classes and of columns; what stands in it is the row distance that
``construct`` (the stage of ``design_codebook`` before any search) promises. First A(n, d), the
largest number of words of length n at distance d, where it is known for n up to 16 (Best et al.
1978, Best 1980, Ostergard, Baicheva & Kolev 1999, Ostergard 2011): k = A(n, d) classes and n
columns must reach d. Then Brouwer's tables of linear codes as they come with GUAVA, a package
for GAP (``apt-get install gap-guava``): k = q^m classes, or 1,000 where these are fewer and q > 2,
every number of columns up to 64 and a random third of those up to 128, or all of them. Without
GUAVA the second part is left out. Last, cells of any number of classes: more classes must not
promise more, nor another column less, nor one column fewer by two less.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ecoc.constructions import construct, constructions
from ecoc.constructions.linear_symbols import tabled_plan
from ecoc.constructions.symbols import tabled_symbols

TABLES = "/usr/share/gap/pkg/guava/tbl"
DIMENSIONS = {2: range(4, 15), 3: range(2, 7), 4: range(2, 6)}
MOST_CLASSES = {2: 1 << 14, 3: 1000, 4: 1000}
"""Designs of more than two symbols have up to so many classes."""

KNOWN = {
    (9, 4): 20,
    (10, 4): 40,
    (11, 4): 72,
    (12, 4): 144,
    (13, 4): 256,
    (14, 4): 512,
    (15, 4): 1024,
    (16, 4): 2048,
    (13, 6): 32,
    (14, 6): 64,
    (15, 6): 128,
    (16, 6): 256,
    (17, 8): 36,
}
"""A(n, d) for even d beyond Plotkin's range, n > 2 d."""


def most_words(n: int, d: int) -> int:
    """A(n, d) for n up to 16; 0 for (16, 3) and (16, 5), which are not known."""
    if d % 2:
        return most_words(n + 1, d + 1)
    if d == 2:
        return 1 << (n - 1)
    # Plotkin 1960, Levenshtein 1961.
    return KNOWN.get((n, d), 0) if n > 2 * d else 4 * d if n == 2 * d else 2 * (d // (2 * d - n))


COUNTED_WORK = 1e8
"""What is spent on columns of codebooks that are made: those of few classes repeat as they come."""


class Guava:
    """The lower bounds on the distance of linear codes in GUAVA's tables."""

    def __init__(self, folder: Path, n_symbols: int) -> None:
        self.q = n_symbols
        text = (folder / f"bdtable{n_symbols}.g").read_text("ascii")
        text = text[text.index(f"GUAVA_BOUNDS_TABLE[1][{n_symbols}]") :]
        text = re.sub(r"#.*", "", text[: text.index("GUAVA_BOUNDS_TABLE[2]")])
        text = re.sub(r"\s+", "", text[text.index(":=") + 2 :]).rstrip(";")
        # A place between two commas that is left empty holds nothing.
        text = re.sub(r"(?<=[\[,])(?=,)", "None", text)
        self.rows = ast.literal_eval(text)
        self.distance = cache(self._distance)

    def _distance(self, n: int, m: int) -> int:
        """The largest distance of a linear code of n columns and q^m words that is listed."""
        if m == 1:
            return n
        row = self.rows[n - 1]
        entry = row[m - 1] if m <= len(row) else None
        if entry is None:
            if self.q == 2 and m == 2:
                return 2 * n // 3
            return n - m + 1 if m >= n - 1 else 2
        rule, *numbers = [entry] if isinstance(entry, int) else entry
        return numbers[0] if rule == 0 else self._derived(n, m, rule, numbers)

    def _derived(self, n: int, m: int, rule: int, numbers: list[int]) -> int:
        """The distance of a code that another one or several give, by the rule's number."""
        d = self.distance
        if rule == 1:
            return d(n + 1, m + 1)
        if rule == 2:
            return d(n + 1, m) - 1
        if rule == 3:
            shorter = d(n - 1, m)
            return shorter + shorter % 2 if self.q == 2 else shorter
        if rule == 4:
            return d(n + numbers[0], m + numbers[0] - 1)
        if rule == 5:
            return min(2 * d(n // 2, numbers[0]), d(n // 2, m - numbers[0]))
        if rule == 6:
            return d(n - numbers[0], m) + d(numbers[0], m)
        if rule == 7:
            longer = numbers[0]
            source = d(longer, m + 1) if longer <= len(self.rows) else longer - n
            return -(-source // self.q)
        if rule == 20:
            return d(n, m + 1)
        if rule == 21:
            added, removed = numbers
            return d(n + added, m + added - 2 * removed - 1) - 2 * removed
        if rule == 22:
            first, second = numbers
            third = m - first - second
            parts = [(3, first), (2, second), (1, third)]
            return min(times * d(n // 3, size) for times, size in parts if size)
        raise ValueError(f"GUAVA's tables have no rule {rule}.")


def promised(k: int, length: int, n_symbols: int = 2) -> int:
    """The row distance that our constructions promise."""
    if n_symbols > 2:
        plan = tabled_plan(k, length, n_symbols)
        return 0 if plan is None else plan.distance
    plans = constructions(k, length)
    return plans[0].distance if plans else 0


def show_known(most: int) -> None:
    """Print the cells of A(n, d) that are not met."""
    pairs = [(n, d) for n in range(4, most + 1) for d in range(2, n) if most_words(n, d) > 3]
    # With so few classes there are fewer than n different columns.
    cells = [(n, d) for n, d in pairs if 2 ** (most_words(n, d) - 1) > n]
    missed = [
        f"A({n},{d}) = {most_words(n, d)}" for n, d in cells if promised(most_words(n, d), n) < d
    ]
    print(f"A(n,d) for n <= {most}: {len(cells) - len(missed)} of {len(cells)} cells met")
    print(*missed, sep="\n", end="\n" if missed else "")


def cells(dimensions: range, options: argparse.Namespace) -> Iterator[tuple[int, int]]:
    """Dimension and columns: all up to 64 columns, and a random third of those up to 128."""
    generator = random.Random(options.seed)
    for m in dimensions:
        n_longer = 64 if options.all else 64 // 3
        longer = sorted(generator.sample(range(65, 129), n_longer))
        yield from ((m, n) for n in [*range(m + 1, 65), *longer])


def show_guava(
    folder: Path, n_symbols: int, dimensions: range, options: argparse.Namespace
) -> None:
    """Print where we are below, equal and above, by the number of words."""
    guava = Guava(folder, n_symbols)
    began = time.perf_counter()
    chosen = list(cells(dimensions, options))
    most = MOST_CLASSES[n_symbols]
    gaps = {
        (m, n): promised(min(n_symbols**m, most), n, n_symbols) - guava.distance(n, m)
        for m, n in chosen
    }
    print(f"\nGUAVA, q = {n_symbols}: {len(gaps)} cells in {time.perf_counter() - began:.0f} s")
    print(f"{'m':>5} {'cells':>6} {'below':>6} {'equal':>6} {'above':>6}  most below")
    for m in dimensions:
        show_row(str(m), [gap for (size, _), gap in gaps.items() if size == m])
    show_row("all", list(gaps.values()))
    for m, n in (cell for cell, gap in gaps.items() if gap < 0):
        published = guava.distance(n, m)
        print(f"below: m = {m}, L = {n}: {published + gaps[m, n]} of {published}")
    above = Counter(gap for gap in gaps.values() if gap > 0)
    print("above by:", ", ".join(f"{gap} in {above[gap]}" for gap in sorted(above)) or "nothing")
    if options.count:
        count(random.Random(options.seed).sample(chosen, options.count), n_symbols)


def show_row(name: str, gaps: list[int]) -> None:
    """Print how many cells are below, equal and above."""
    below, above = [gap for gap in gaps if gap < 0], [gap for gap in gaps if gap > 0]
    share = f"({100 * len(below) / len(gaps):.1f} %)"
    equal = len(gaps) - len(below) - len(above)
    most = -min(gaps, default=0) if below else 0
    print(f"{name:>5} {len(gaps):>6} {len(below):>6} {equal:>6} {len(above):>6}  {most} {share}")


def count(chosen: list[tuple[int, int]], n_symbols: int) -> None:
    """Make the codebooks of some cells and count their distances."""
    wrong, began = [], time.perf_counter()
    for m, n in chosen:
        k = min(n_symbols**m, MOST_CLASSES[n_symbols])
        if n_symbols == 2:
            code = construct(k, n, random_state=0, work_limit=COUNTED_WORK)
            reached = 0 if code is None else int(code.min_row_distance)
        else:
            words = tabled_symbols(k, n, n_symbols, random_state=0)
            reached = 0 if words is None else words.distance
        if reached < promised(k, n, n_symbols):
            wrong.append(f"made: m = {m}, L = {n}: {reached} of {promised(k, n, n_symbols)}")
    kept, seconds = len(chosen) - len(wrong), time.perf_counter() - began
    print(f"made and counted: {kept} of {len(chosen)} as promised, in {seconds:.0f} s")
    print(*wrong, sep="\n", end="\n" if wrong else "")


def show_order(n_cells: int, seed: int) -> None:
    """Print the random cells that a neighbour with more classes or other columns surpasses."""
    generator = random.Random(seed)
    out_of_order = []
    for _ in range(n_cells):
        k, length = int(2 ** generator.uniform(3, 14)), generator.randint(8, 127)
        if k > 2 ** min(length - 1, 14):
            continue
        here = promised(k, length)
        more = promised(min(k + generator.randint(1, k), 1 << 14), length)
        shorter, longer = promised(k, length - 1), promised(k, length + 1)
        if here < max(more, shorter, longer - 1):
            out_of_order.append(f"k = {k}, L = {length}: {here}; {more}, {shorter}, {longer}")
    print(f"\nout of order: {len(out_of_order)} of {n_cells} random cells of any k")
    print(*out_of_order, sep="\n", end="\n" if out_of_order else "")


def main() -> None:
    """Print all parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=Path, default=Path(TABLES))
    parser.add_argument("--all", action="store_true", help="every length, not a third of the long")
    parser.add_argument("--seed", type=int, default=0, help="decides which third, and what is made")
    parser.add_argument("--count", type=int, default=0, help="how many codebooks to make")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    show_known(8 if options.smoke else 16)
    for n_symbols, dimensions in DIMENSIONS.items():
        if (options.tables / f"bdtable{n_symbols}.g").exists():
            kept = dimensions[:1] if options.smoke else dimensions
            show_guava(options.tables, n_symbols, kept, options)
        else:
            print(f"no table for q = {n_symbols} in {options.tables}: GUAVA is not installed")
    show_order(10 if options.smoke else 500, options.seed)


if __name__ == "__main__":
    main()
