"""Search for the tables of small clique covers that ecoc ships.

A table gives each generator a syndrome, that is, a linear code, and names the
syndromes at which cliques are centred. For a given code the choice of syndromes
is a hitting-set problem with few items: a pair of words y, y + d is in a clique
of shape O centred at u exactly if u = y + o for an o in O with o + d in O, so
only the syndrome of y and the difference d matter. A symmetry of the code makes
the problem smaller still.

    python tools/find_covers.py 13 4 --separation two-sided --codes 30

With --syndromes the code is given, and with --rotate and --squares its symmetry. Most
tables for rho from 7 on are of the quadratic residue code of length 17:

    QR="1 2 4 8 10 20 40 80 39 72 e4 f1 db 8f 27 4e 9c"
    python tools/find_covers.py 18 9 --separation one-sided --syndromes "$QR" --rotate 17

The best table found is verified on every edge of the graph and printed; with
--output it is put into a table file if it is smaller than what is there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecoc.graphs import CliqueCover, ConflictGraph, verify_cover
from ecoc.graphs.structured import CoverTable, list_generators, place_shapes, table_shapes
from hitting_set import small_hitting_set

Ints = npt.NDArray[np.int64]

_TRIES = 10_000


class Code(NamedTuple):
    """A syndrome for each generator, and what is asked of the cliques.

    The first `n_rotated` generators may be rotated and, with `squares`, number i may
    become number 2i. Only the first `n_directions` give double balls.
    """

    syndromes: tuple[int, ...]
    n_rotated: int
    n_directions: int | None = None
    squares: bool = False


class Symmetry(NamedTuple):
    """Where a permutation of the generators takes each of them, and each word or syndrome."""

    generators: list[int]
    image: Ints


def main() -> None:
    """Search as the command line says."""
    options = _parse()
    generators = list_generators(options.n_classes, options.separation)
    graph = ConflictGraph(options.n_classes, options.min_column_distance, options.separation)
    rng = np.random.default_rng(options.seed)
    best: CoverTable | None = None
    fewest = graph.n_edges + 1
    for code in islice(_codes(len(generators), options, rng), options.codes):
        n_bits = max(s.bit_length() for s in code.syndromes)
        per_syndrome = 1 << (options.n_classes - 1 - n_bits)
        table = find_table(
            graph,
            generators,
            code,
            n_rounds=options.rounds,
            seed=int(rng.integers(1 << 30)),
        )
        count = _n_centres(table) * per_syndrome
        if count < fewest:
            print(f"{count} cliques: {' '.join(f'{s:x}' for s in code.syndromes)}", flush=True)
            best, fewest = table, count
    if best is None:
        raise SystemExit("No code to try; give --syndrome-bits or --syndromes.")
    cover = _cover(graph, best)
    report = verify_cover(graph, cover)
    print(f"{cover.n_cliques} cliques, {report}")
    if not report.verified:
        raise SystemExit(1)
    best = replace(best, min_generators=_least_generators(best, options.separation))
    print(json.dumps(best.to_json()))
    if options.output is not None:
        _store(options.output, best, graph)


def find_table(
    graph: ConflictGraph, generators: list[int], code: Code, *, n_rounds: int, seed: int
) -> CoverTable:
    """Choose syndromes for a code such that the cliques centred at them cover the graph."""
    rows, label, costs = _rows(graph, generators, code)
    chosen = small_hitting_set(rows, costs, n_rounds=n_rounds, seed=seed)
    n_syndromes = 1 << max(s.bit_length() for s in code.syndromes)
    items = np.flatnonzero(np.isin(label, chosen))
    masks = [0] * len(generators)
    for item in items.tolist():
        shape, t = divmod(item, n_syndromes)
        if graph.min_column_distance % 2 or t < t ^ code.syndromes[shape]:
            masks[shape] |= 1 << t
    if graph.min_column_distance % 2:
        return CoverTable(graph.min_column_distance, code.syndromes, balls=masks[0])
    return CoverTable(graph.min_column_distance, code.syndromes, double_balls=tuple(masks))


def _rows(
    graph: ConflictGraph, generators: list[int], code: Code
) -> tuple[tuple[Ints, Ints], Ints, Ints]:
    """Return the hitting-set problem: rows of labels, the label of each item, costs."""
    n_syndromes = 1 << max(s.bit_length() for s in code.syndromes)
    symmetries = _symmetries(code, n_syndromes)
    single = graph.min_column_distance % 2 == 1
    label, costs = _orbits(code, symmetries, n_syndromes, single=single)
    differences = graph.differences()
    if symmetries:
        # A row and its image are the same, so some differences stand for all.
        words = code._replace(syndromes=tuple(generators))
        least = _least_in_orbit(_symmetries(words, 1 << (graph.n_classes - 1)))
        differences = differences[least[differences] == differences]
    unique = set()
    shifts = np.arange(n_syndromes)[:, None]
    for items in _options(graph.min_column_distance, differences, generators, code):
        hit = np.zeros((n_syndromes, costs.size), dtype=np.bool_)
        hit[shifts, label[items ^ shifts]] = True
        unique.update(row.tobytes() for row in np.packbits(hit, axis=1))
    rows = [np.flatnonzero(np.unpackbits(np.frombuffer(r, np.uint8))) for r in sorted(unique)]
    indptr = np.cumsum([0, *(row.size for row in rows)])
    return (indptr, np.concatenate(rows)), label, costs


def _options(rho: int, differences: Ints, generators: list[int], code: Code) -> list[Ints]:
    """Return for each difference d the items, any of which holds a pair (y, y + d) with H y = 0."""
    n_syndromes = 1 << max(s.bit_length() for s in code.syndromes)
    whole = CoverTable(rho, code.syndromes, balls=1, double_balls=(1,) * len(generators))
    ball, *double_balls = (offsets for _, offsets in table_shapes(whole, generators))
    shapes = [ball] if rho % 2 else double_balls[: code.n_directions]
    word_syndrome = np.zeros(1, dtype=np.int64)
    for s in code.syndromes[: generators[-1].bit_length()]:
        word_syndrome = np.concatenate((word_syndrome, word_syndrome ^ s))
    inside = np.zeros((len(shapes), word_syndrome.size), dtype=np.bool_)
    for shape, offsets in enumerate(shapes):
        inside[shape, offsets] = True
    options = set()
    for d in differences.tolist():
        found = np.zeros((len(shapes), n_syndromes), dtype=np.bool_)
        for shape, offsets in enumerate(shapes):
            _mark_common(d, offsets, inside[shape], word_syndrome, found[shape])
        options.add(np.packbits(found).tobytes())
    return _without_implied(options)


@njit(cache=True)
def _mark_common(d, offsets, inside, word_syndrome, found):
    """Mark the syndromes of the offsets that are still inside when moved by d."""
    for offset in offsets:
        if inside[offset ^ d]:
            found[word_syndrome[offset]] = True


def _without_implied(options: set[bytes]) -> list[Ints]:
    """Return, as lists, those of the sets given by bits that have no other inside them."""
    masks = np.array([np.frombuffer(option, dtype=np.uint8) for option in sorted(options)])
    masks = masks[np.argsort(np.bitwise_count(masks).sum(axis=1), kind="stable")]
    kept = np.empty_like(masks)
    n_kept = 0
    for mask in masks:
        if not (kept[:n_kept] & ~mask == 0).all(axis=1).any():
            kept[n_kept] = mask
            n_kept += 1
    return [np.flatnonzero(np.unpackbits(mask)) for mask in kept[:n_kept]]


def _symmetries(code: Code, n_syndromes: int) -> list[Symmetry]:
    """Return those of the permutations asked for that act on the syndromes."""
    q = code.n_rotated
    rest = range(q, len(code.syndromes))
    permutations = [[*((i + 1) % q for i in range(q)), *rest]] if q else []
    if code.squares:
        permutations.append([*(2 * i % q for i in range(q)), *rest])
    return [
        Symmetry(generators, np.array([image[t] for t in range(n_syndromes)]))
        for generators in permutations
        if (image := _linear_map(code.syndromes, [code.syndromes[i] for i in generators]))
    ]


def _linear_map(sources: Sequence[int], targets: Sequence[int]) -> dict[int, int]:
    """Return the linear map that takes each source to its target; empty if there is none."""
    image = {0: 0}
    for source, target in zip(sources, targets, strict=True):
        if image.get(source, target) != target:
            return {}
        if source not in image:
            image |= {known ^ source: there ^ target for known, there in image.items()}
    return image


def _least_in_orbit(symmetries: list[Symmetry]) -> Ints:
    least = np.arange(symmetries[0].image.size)
    while True:
        smaller = np.minimum.reduce([least, *(least[symmetry.image] for symmetry in symmetries)])
        if np.array_equal(smaller, least):
            return least
        least = smaller


def _orbits(
    code: Code, symmetries: list[Symmetry], n_syndromes: int, *, single: bool
) -> tuple[Ints, Ints]:
    """Return the orbit of each item (shape, syndrome), and how many cliques an orbit costs."""
    n_shapes = 1 if single else len(code.syndromes[: code.n_directions])
    label = np.full(n_shapes * n_syndromes, -1, dtype=np.int64)
    costs: list[int] = []
    for item in range(label.size):
        if label[item] >= 0:
            continue
        label[item] = len(costs)
        orbit = [item]
        for member in orbit:
            shape, t = divmod(member, n_syndromes)
            images = [
                (0 if single else symmetry.generators[shape]) * n_syndromes + int(symmetry.image[t])
                for symmetry in symmetries
            ]
            if not single:
                images.append(shape * n_syndromes + (t ^ code.syndromes[shape]))
            for image in images:
                if label[image] < 0:
                    label[image] = len(costs)
                    orbit.append(image)
        costs.append(len(orbit))
    return label, np.array(costs)


def _codes(
    n_generators: int, options: argparse.Namespace, rng: np.random.Generator
) -> Iterator[Code]:
    """Produce the given code, or cyclic ones and then many random ones."""
    if options.syndromes:
        syndromes = tuple(int(s, 16) for s in options.syndromes.split())
        yield Code(syndromes, options.rotate, options.directions, options.squares)
        return
    two_sided = options.separation == "two-sided"
    bits = options.syndrome_bits
    if not options.random_only:
        for length in (n_generators, n_generators - 1):
            for polynomial in _divisors(length):
                for code in _cyclic(length, polynomial, n_generators - length):
                    total = int(np.bitwise_xor.reduce(code.syndromes))
                    m = max(s.bit_length() for s in code.syndromes)
                    distinct = len({*code.syndromes, 0}) == n_generators + 1
                    if (
                        distinct
                        and m <= bits
                        and m < options.n_classes
                        and not (two_sided and total)
                    ):
                        yield code
    for _ in range(_TRIES if 2**bits > n_generators else 0):
        syndromes = [1 << i for i in range(bits)]
        rest = np.setdiff1d(np.arange(1, 1 << bits), syndromes)
        rng.shuffle(rest)
        syndromes += rest[: n_generators - bits].tolist()
        if two_sided:
            syndromes[-1] = int(np.bitwise_xor.reduce(syndromes[:-1]))
        if len({*syndromes, 0}) == n_generators + 1:
            yield Code(tuple(syndromes), 0)


def _divisors(length: int) -> Iterator[int]:
    """Produce the polynomials over GF(2), as bits, that divide x^length + 1."""
    for polynomial in range(3, 1 << min(length, 12), 2):
        if _remainder(1 << length ^ 1, polynomial) == 0:
            yield polynomial


def _remainder(value: int, polynomial: int) -> int:
    degree = polynomial.bit_length()
    while value.bit_length() >= degree:
        value ^= polynomial << (value.bit_length() - degree)
    return value


def _cyclic(length: int, polynomial: int, n_more: int) -> Iterator[Code]:
    """Produce the cyclic code of a polynomial, extended by a parity bit if there is room."""
    powers = [_remainder(1 << i, polynomial) for i in range(length)]
    if n_more == 0:
        yield Code(tuple(powers), length)
    else:
        yield Code((*(2 * p + 1 for p in powers), 1), length)


def _n_centres(table: CoverTable) -> int:
    return table.balls.bit_count() + sum(mask.bit_count() for mask in table.double_balls)


def _cover(graph: ConflictGraph, table: CoverTable) -> CliqueCover:
    generators = list_generators(graph.n_classes, graph.separation)
    return place_shapes(table_shapes(table, generators), graph)


def _least_generators(table: CoverTable, separation: str) -> int:
    """Return how many generators the table serves at least, found by verifying."""
    least = len(table.syndromes)
    while separation == "one-sided" and least > table.min_column_distance:
        smaller = ConflictGraph(least, table.min_column_distance, separation)
        if not verify_cover(smaller, _cover(smaller, table)).verified:
            break
        least -= 1
    return least


def _store(path: Path, table: CoverTable, graph: ConflictGraph) -> None:
    """Put a table into a file, in place of one for the same graph that is larger."""
    entries = json.loads(path.read_text(encoding="utf-8"))["tables"] if path.exists() else []
    tables = [CoverTable.from_json(entry) for entry in entries]
    same = [
        other
        for other in tables
        if other.min_column_distance == table.min_column_distance
        and len(other.syndromes) == len(table.syndromes)
    ]
    if any(_cover(graph, other).n_cliques <= _cover(graph, table).n_cliques for other in same):
        print(f"{path} already has a table that is as good.")
        return
    tables = sorted(
        [table, *(other for other in tables if other not in same)],
        key=lambda t: (t.min_column_distance, len(t.syndromes)),
    )
    lines = ",\n".join(json.dumps(t.to_json()) for t in tables)
    path.write_text(f'{{"tables": [\n{lines}\n]}}\n', encoding="utf-8")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("n_classes", type=int, help="the number of classes, k")
    parser.add_argument("min_column_distance", type=int, help="the column separation, rho")
    parser.add_argument("--separation", choices=("one-sided", "two-sided"), default="two-sided")
    parser.add_argument(
        "--syndrome-bits",
        type=int,
        default=8,
        help="at most so many; random codes have just so many",
    )
    parser.add_argument("--syndromes", help="try one code: hexadecimal syndromes of the generators")
    parser.add_argument(
        "--rotate", type=int, default=0, help="with --syndromes: the first so many may be rotated"
    )
    parser.add_argument(
        "--directions", type=int, help="with --syndromes: double balls along the first so many only"
    )
    parser.add_argument(
        "--squares",
        action="store_true",
        help="with --rotate: the cliques stay the same if number i becomes number 2i, too",
    )
    parser.add_argument("--random-only", action="store_true", help="try no cyclic codes")
    parser.add_argument("--codes", type=int, default=30, help="how many codes to try")
    parser.add_argument("--rounds", type=int, default=200, help="rounds of the search for each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="a table file to improve or make")
    return parser.parse_args()


if __name__ == "__main__":
    main()
