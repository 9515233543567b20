"""Search for the sequences behind the Hadamard matrices that ecoc tabulates.

    python tools/find_hadamard.py goethals-seidel 67 --subgroup 3 --output
    python tools/find_hadamard.py base 13 --output
    python tools/find_hadamard.py legendre 25 --subgroup 1 --output

Goethals-Seidel: four functions on Z_v that are constant on the orbits of a subgroup of
the units, with autocorrelations that sum to 0. Their autocorrelations are constant on
orbits too, so few numbers matter: pairs of functions are hashed by them, and a pair is
joined with a pair of the opposite sum (Dokovic 1992 found many in this way). Base
sequences: four of lengths n + 1, n + 1, n, n with aperiodic autocorrelations that sum to
0, by random pairs joined in the same way. Legendre pairs: two sequences of odd length k
with autocorrelations that sum to -2, as unions of orbits, taken for the best separation
of the columns of their two circulants.

What is found is verified; with --output it is put into the shipped table. The table also
has what others published after longer searches: Turyn-type sequences (Best, Dokovic,
Kharaghani & Ramp 2013; Kharaghani & Tayfeh-Rezaie 2005) and the functions on Z_v for
v = 103, 151 and 239 (Dokovic 1994) and 191 (Dokovic 2008).
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import combinations_with_replacement
from math import gcd, isqrt
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecoc.constructions.hadamard import multiplier_subgroup, periodic_autocorrelation

Ints = npt.NDArray[np.int64]
Signs = npt.NDArray[np.int8]

TABLE = Path(__file__).parents[1] / "src/ecoc/constructions/tables/sequences.json"


def main() -> None:
    """Search as the command line says."""
    options = _parse()
    rng = np.random.default_rng(options.seed)
    end = time.monotonic() + options.time_limit
    if options.kind == "base":
        found: object = find_base(options.length, rng, end)
    elif options.kind == "legendre":
        found = find_legendre(options.length, options.subgroup, options.sample, rng, end)
    else:
        found = find_quadruple(options.length, options.subgroup, options.sample, rng, end)
    print(json.dumps(found))
    if found is not None and options.output:
        table = json.loads(TABLE.read_text(encoding="ascii"))
        section = table[options.kind.replace("-", "_")]
        section[str(options.length)] = found
        table[options.kind.replace("-", "_")] = dict(
            sorted(section.items(), key=lambda i: int(i[0]))
        )
        TABLE.write_text(_written(table), encoding="ascii")


def _written(table: dict[str, dict[str, object]]) -> str:
    """The table as JSON, a line for each entry."""
    sections = []
    for name, section in table.items():
        rows = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in section.items())
        sections.append(f" {json.dumps(name)}: {{\n{rows}\n }}")
    return "{\n" + ",\n".join(sections) + "\n}\n"


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["goethals-seidel", "base", "legendre"])
    parser.add_argument("length", type=int)
    parser.add_argument("--subgroup", type=int, default=3, help="order of the subgroup")
    parser.add_argument("--sample", type=int, default=3000, help="functions of each sum")
    parser.add_argument("--time-limit", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", action="store_true", help="put it into the shipped table")
    return parser.parse_args()


def find_quadruple(
    v: int, subgroup_order: int, sample: int, rng: np.random.Generator, end: float
) -> dict[str, object] | None:
    """Four functions on Z_v of zero autocorrelation sum, as unions of orbits."""
    generator, orbits, shifts = _orbits(v, subgroup_order)
    member = _members(v, orbits)
    weights = rng.integers(1, 2**63, size=len(shifts), dtype=np.uint64) | np.uint64(1)
    sums = [
        s
        for s in combinations_with_replacement(range(1, isqrt(4 * v) + 1, 2), 4)
        if sum(x * x for x in s) == 4 * v
    ]
    while time.monotonic() < end:
        pools = {r: _pool(r, member, shifts, sample, rng) for r in {x for s in sums for x in s}}
        for first, second, third, fourth in sums:
            for pairing in ((first, second, third, fourth), (first, third, second, fourth)):
                chosen = _join([pools[r] for r in pairing], weights)
                if chosen is None:
                    continue
                functions = [pools[r][0][i] for r, i in zip(pairing, chosen, strict=True)]
                lists = [
                    [orbits[i][0] for i in range(len(orbits)) if f[orbits[i][0]] == -1]
                    for f in functions
                ]
                return {"multiplier": generator, "orbits": lists}
    return None


def _orbits(v: int, subgroup_order: int) -> tuple[int, list[tuple[int, ...]], list[int]]:
    """A generator of a subgroup, its orbits, and a shift of each orbit up to sign."""
    generator = next(
        g
        for g in range(1, v)
        if gcd(g, v) == 1 and len(multiplier_subgroup(v, g)) == subgroup_order
    )
    subgroup = multiplier_subgroup(v, generator)
    orbits = sorted({tuple(sorted({x * h % v for h in subgroup})) for x in range(v)})
    shifts = sorted({min(min(x * h % v, -x * h % v) for h in subgroup) for x in range(1, v)})
    return generator, orbits, shifts


def _members(v: int, orbits: list[tuple[int, ...]]) -> Signs:
    member = np.zeros((len(orbits), v), dtype=np.int8)
    for i, orbit in enumerate(orbits):
        member[i, list(orbit)] = 1
    return member


def find_legendre(
    k: int, subgroup_order: int, sample: int, rng: np.random.Generator, end: float
) -> list[str] | None:
    """The Legendre pair of length k with the best column separation found in the time."""
    _, orbits, shifts = _orbits(k, subgroup_order)
    member = _members(k, orbits)
    weights = rng.integers(1, 2**63, size=len(shifts), dtype=np.uint64) | np.uint64(1)
    minus_two = np.full(len(shifts), -2, dtype=np.int64).astype(np.uint64) @ weights
    best: list[str] | None = None
    largest = k - 2
    kept: tuple[Signs, Ints] | None = None
    while time.monotonic() < end and largest > k - 2 * (k // 3):
        pool = _pool(1, member, shifts, sample, rng, ceiling=2 * k + 2)
        kept = pool if kept is None else tuple(map(np.vstack, zip(kept, pool, strict=True)))
        functions, correlations = kept
        hashes = correlations.astype(np.uint64) @ weights
        order = np.argsort(hashes)
        low = np.searchsorted(hashes[order], minus_two - hashes)
        high = np.searchsorted(hashes[order], minus_two - hashes, side="right")
        for a in np.flatnonzero(high > low):
            for b in order[low[a] : high[a]]:
                for other in (functions[b], functions[b][::-1]):
                    worst = _largest_product(functions[a], other)
                    if worst < largest:
                        largest = worst
                        best = [
                            "".join("-+"[(x + 1) // 2] for x in s) for s in (functions[a], other)
                        ]
                        print(f"{k}: separation {(k - worst) // 2} of {k // 3}", flush=True)
        if len(functions) > 400_000:
            kept = None
    return best


def _largest_product(a: Signs, b: Signs) -> int:
    """The largest absolute inner product of two columns of the circulants of a and b."""
    fa, fb = np.fft.fft(a), np.fft.fft(b)
    cross = np.abs(np.fft.ifft(fa * fb.conj()).real).max()
    own = [np.abs(np.fft.ifft(np.abs(f) ** 2).real[1:]).max() for f in (fa, fb)]
    return round(max(cross, *own))


def _pool(
    total: int,
    member: Signs,
    shifts: list[int],
    sample: int,
    rng: np.random.Generator,
    *,
    ceiling: int | None = None,
) -> tuple[Signs, Ints]:
    """Functions with a given sum (up to sign) whose power spectrum stays below a ceiling, 4v."""
    v = member.shape[1]
    ceiling = ceiling or 4 * v
    sizes = member.sum(axis=1)
    kept: dict[bytes, Signs] = {}
    for _ in range(60):
        chosen = rng.integers(0, 2, size=(20_000, len(member)), dtype=np.int8)
        weight = chosen @ sizes.astype(np.int64)
        chosen = chosen[np.abs(v - 2 * weight) == total]
        functions = (1 - 2 * (chosen @ member)).astype(np.int8)
        if not len(functions):
            continue
        functions = functions * np.sign(functions.sum(axis=1))[:, None].astype(np.int8)
        spectrum = np.abs(np.fft.rfft(functions, axis=1)) ** 2
        for f in functions[(spectrum <= ceiling + 1e-6).all(axis=1)]:
            kept[f.tobytes()] = f
        if len(kept) >= sample:
            break
    result = np.array(list(kept.values())[:sample], dtype=np.int8).reshape(-1, v)
    spectrum = np.abs(np.fft.fft(result, axis=1)) ** 2
    correlation = np.rint(np.fft.ifft(spectrum, axis=1).real).astype(np.int64)
    return result, correlation[:, shifts]


def _join(
    pools: list[tuple[Signs, Ints]], weights: npt.NDArray[np.uint64]
) -> tuple[int, int, int, int] | None:
    hashes = [paf.astype(np.uint64) @ weights for _, paf in pools]
    left = np.add.outer(hashes[0], hashes[1]).ravel()
    right = (-np.add.outer(hashes[2], hashes[3])).ravel()
    if not left.size or not right.size:
        return None
    order = np.argsort(left)
    left = left[order]
    places = np.minimum(np.searchsorted(left, right), left.size - 1)
    for hit in np.flatnonzero(left[places] == right):
        a, b = divmod(int(order[places[hit]]), len(hashes[1]))
        c, d = divmod(int(hit), len(hashes[3]))
        functions = [pool[0][i] for pool, i in zip(pools, (a, b, c, d), strict=True)]
        total = sum(periodic_autocorrelation(f) for f in functions)
        if np.count_nonzero(total) == 1:
            return a, b, c, d
    return None


def find_base(length: int, rng: np.random.Generator, end: float) -> list[str] | None:
    """Base sequences of lengths n + 1, n + 1, n, n with 2n + 1 = length."""
    n = length // 2
    weights = rng.integers(1, 2**63, size=n, dtype=np.uint64) | np.uint64(1)
    while time.monotonic() < end:
        sides = []
        for size in (n + 1, n):
            pairs = 1 - 2 * rng.integers(0, 2, size=(200_000, 2, size), dtype=np.int64)
            sides.append((pairs, _aperiodic(pairs, n).astype(np.uint64) @ weights))
        (first, left), (second, right) = sides
        _, i, j = np.intersect1d(left, -right, return_indices=True)
        for a, b in zip(i, j, strict=True):
            total = _aperiodic(first[a : a + 1], n) + _aperiodic(second[b : b + 1], n)
            if not total.any():
                return ["".join("-+"[(x + 1) // 2] for x in s) for s in (*first[a], *second[b])]
    return None


def _aperiodic(pairs: Ints, n: int) -> Ints:
    size = pairs.shape[2]
    return np.stack(
        [(pairs[:, :, : size - s] * pairs[:, :, s:]).sum(axis=(1, 2)) for s in range(1, n + 1)],
        axis=1,
    )


if __name__ == "__main__":
    main()
