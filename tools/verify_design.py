#!/usr/bin/env python3
"""Check a design file of ecoc from scratch, with Python's standard library alone.

    python verify_design.py FILE.json

A design file holds a codebook (a matrix with a row for each of k classes, of + and -, with 0 where
a column leaves a class out, or of several symbols), the problem it solves, and a proof that no
codebook of that problem is better. Nothing in the file is trusted and nothing of ecoc is imported:
figures, rules and objective are recomputed from the matrix, and proofs are checked in whole
numbers and fractions. Name, labels, provenance and notes tell a story that no claim rests on; they
are not judged.

Exit status: 0 OPTIMAL, proved here. 3 FEASIBLE: the codebook is as claimed, but better ones
are not excluded here; or NOT VERIFIED: the claim rests on the word of a solver, or was not
checked within a minute. 5 INVALID: a claim is false. 1 not a design file. 2 wrong usage.
"""

import json
import math
import os
import re
import sys
import threading
from collections import Counter
from copy import copy
from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import comb, floor
from pathlib import Path

OPTIMAL, UNREADABLE, FEASIBLE, INVALID = 0, 1, 3, 5
MAX_SIDE = 1 << 14  # rows or columns: all pairs of them are looked at
KEYS = "format version matrix name labels provenance allow_repeated_columns figures certificate"
KEYS += " n_symbols"
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"  # beyond 36, symbols are numbers with spaces
CLAIMS = "problem status objective bound proof separation_proof notes"
RULES = (
    "nested n_symbols n_classes n_columns min_column_distance separation max_imbalance class_sizes"
)
TERNARY = "alphabet n_classes n_columns min_column_distance separation max_imbalance class_sizes"
TERNARY += " objective max_support column_cost budget min_cover pair_weights class_similarity"
SOLVER = "solver version formulation termination tolerances n_nodes"
PROGRAMS = ("IP1", "IP2", "IP3", "PARTITIONS", "TERNARY")
TOLERANCES = "feasibility integrality absolute_gap relative_gap"
SECONDS = 60  # that a verification may take
THEORY = "name value proof reason"
FACTS = {"theory": THEORY, "exhaustive": "", "solver": SOLVER, "two-solvers": "first second"}
# What reading plain data raises where a list is no list, a key is missing, and so on.
MISSHAPEN = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class StopError(Exception):
    """The check ends here, with an exit status and the reason."""


def need(holds, reason, status=INVALID):
    """Stop unless a condition holds."""
    if not holds:
        raise StopError(status, reason)


# ------------------------------------------------------- 1. the file, as plain data


def read(path):
    """Return the JSON document, without unknown or repeated keys or numbers beyond all limits."""

    def unique(pairs):
        need(len(dict(pairs)) == len(pairs), "a key stands twice in one object", UNREADABLE)
        return dict(pairs)

    def finite(text):
        need(math.isfinite(float(text)), "a number is not finite", UNREADABLE)
        return float(text)

    with Path(path).open("rb") as stream:
        text = stream.read(1 << 28).decode("utf-8-sig")
    found = json.loads(text, object_pairs_hook=unique, parse_float=finite, parse_constant=finite)
    check_keys(found, KEYS)
    need(found["format"] == "ecoc-codebook", "the format must be ecoc-codebook", UNREADABLE)
    need(whole(found["version"]) == 1, "only version 1 is known", UNREADABLE)
    claim = found.get("certificate")
    need(claim is not None, "a codebook without a certificate is no design", UNREADABLE)
    check_keys(claim, CLAIMS)
    ternary = "alphabet" in claim["problem"]
    check_keys(claim["problem"], TERNARY if ternary else f"{RULES} objective target_distances")
    need(claim["status"] in ("optimal", "feasible"), "status must be optimal or feasible", 1)
    for proof in (claim.get("proof"), claim.get("separation_proof")):
        if proof is not None:
            check_keys(proof, "kind bound facts", complete=True)
            number(proof["bound"])
            check_keys(proof["facts"], FACTS[proof["kind"]], complete=True, status=INVALID)
    return found


def check_keys(value, keys, *, complete=False, status=UNREADABLE):
    """Refuse what is not an object, has other keys than these, or lacks one if complete."""
    unknown = sorted(value.keys() - set(keys.split()))
    need(not unknown, f"unknown key {shown(unknown[:1])}", status)
    need(not complete or len(value) == len(keys.split()), f"one of {keys} is missing", status)


def whole(value, low=0, high=10**4000):
    """Return a whole number within limits."""
    need(type(value) is int and low <= value <= high, "a whole number is not in range", UNREADABLE)
    return value


def number(value):
    """Return a number exactly: the decimal as it is written, or a fraction such as "12/5"."""
    right = type(value) is int and abs(value) < 10**60
    right = right or (type(value) is float and (value == 0 or 1e-30 < abs(value) < 1e30))
    if type(value) is str and re.fullmatch(r"[0-9]{1,60}/[1-9][0-9]{0,59}", value):
        right = "/" in str(Fraction(value)) and str(Fraction(value)) == value
    need(right, "something is not a number, or too large or too small", UNREADABLE)
    return Fraction(str(value))


def shown(text):
    """Return text from the file so that it is safe to print."""
    return "".join(c if " " <= c <= "~" else "?" for c in str(text)[:80])


# ------------------------------------------------------------------ 2. the matrix


class Matrix:
    """Rows and columns as whole numbers with a bit for each minus, and their distances."""

    def __init__(self, texts):
        self.k, self.length = len(texts), len(texts[0])
        fits = 2 <= self.k <= MAX_SIDE and 1 <= self.length <= MAX_SIDE
        need(fits and type(texts) is list, "the matrix has a wrong size", UNREADABLE)
        right = all(len(row) == self.length and set(row) <= set("+-0") for row in texts)
        need(right, "rows must be texts of +, - and 0 of one length", UNREADABLE)
        need(not any("0" in row for row in texts), "the codebook leaves classes out (entries 0)")
        bits = str.maketrans("+-", "01")
        self.rows = [int(row.translate(bits), 2) for row in texts]
        # A column and its complement are one classifier: class 0, the highest bit, gets a plus.
        highest, ones = 1 << (self.k - 1), (1 << self.k) - 1
        columns = [int("".join(c).translate(bits), 2) for c in zip(*texts, strict=True)]
        self.columns = [c ^ ones if c & highest else c for c in columns]
        need(0 not in self.columns, "a column lacks a + or a -")
        need(len(set(self.rows)) == self.k, "two rows are equal")
        need(len(set(self.columns)) == self.length, "two columns are equal or complementary")
        self.row_distances = distances(self.rows)
        self.column_distances = set(distances(self.columns))
        self.two_sided = min((min(d, self.k - d) for d in self.column_distances), default=None)
        self.least = min(self.row_distances)

    def largest_difference(self, sizes):
        """Return how much the sides of a column differ at most."""
        if set(sizes) == {1}:
            return max(abs(self.k - 2 * c.bit_count()) for c in self.columns)
        places = list(enumerate(reversed(sizes)))
        return max(abs(sum(-n if c >> i & 1 else n for i, n in places)) for c in self.columns)

    def figures(self):
        """Recompute every figure that a file may store."""
        return {
            "n_classes": self.k,
            "n_columns": self.length,
            "kind": "binary",
            "min_row_distance": self.least,
            "correctable_errors": (self.least - 1) // 2,
            "row_distance_spectrum": {str(d): n for d, n in sorted(self.row_distances.items())},
            "min_column_distance_two_sided": self.two_sided,
            "min_column_distance_one_sided": min(self.column_distances, default=None),
            "max_imbalance": self.largest_difference([1] * self.k) / self.k,
        }


def distances(words):
    """Count the distances of all pairs of different words.

    The words of a linear code, or of one that is shifted, are 2^m sums of m words: each of them
    has the same distances to the others.
    """
    first, basis = words[0], {}
    for word in words[1:]:
        rest = word ^ first
        while rest.bit_length() in basis:
            rest ^= basis[rest.bit_length()]
        if rest:
            basis[rest.bit_length()] = rest
        if 1 << len(basis) > len(words):
            break
    if 1 << len(basis) == len(words):
        counts = Counter(map(int.bit_count, map(first.__xor__, words[1:])))
        return Counter({d: n * len(words) // 2 for d, n in counts.items()})
    counts = Counter()
    for i, word in enumerate(words):
        counts.update(map(int.bit_count, map(word.__xor__, words[i + 1 :])))
    return counts


class TernaryMatrix:
    """Rows and columns with bits for pluses and for minuses; distances count 0 as a half."""

    q = 2

    def __init__(self, texts):
        self.k, self.length = len(texts), len(texts[0])
        fits = 2 <= self.k <= MAX_SIDE and 1 <= self.length <= MAX_SIDE
        need(fits and type(texts) is list, "the matrix has a wrong size", UNREADABLE)
        right = all(len(row) == self.length and set(row) <= set("+-0") for row in texts)
        need(right, "rows must be texts of +, - and 0 of one length", UNREADABLE)
        self.rows = [sides(row) for row in texts]
        # A column and its negative are one classifier: the first class used gets a plus.
        columns = [sides(column) for column in zip(*texts, strict=True)]
        need(all(plus and minus for plus, minus in columns), "a column lacks a + or a -")
        self.columns = [max(column, column[::-1]) for column in columns]
        need(len(set(self.columns)) == self.length, "two columns are equal or complementary")
        self.covers = {
            (i, j): met(a, b[::-1]) for (i, a), (j, b) in combinations(enumerate(self.rows), 2)
        }
        need(min(self.covers.values()) > 0, "two rows have no opposite entries")
        self.halves = Counter(self.length - product(*pair) for pair in combinations(self.rows, 2))
        products = [product(*pair) for pair in combinations(self.columns, 2)]
        self.one_sided = min((self.k - h for h in products), default=None)
        self.two_sided = min((self.k - abs(h) for h in products), default=None)

    def sizes(self, sizes):
        """Produce the sizes of the two sides of each column."""
        places = list(enumerate(reversed(sizes)))
        for column in self.columns:
            yield [sum(n for i, n in places if side >> i & 1) for side in column]

    def corrected(self):
        """Return how many wrong columns Hamming decoding surely survives.

        Columns that leave the true class out answer anything, and may give the other class all
        that it is used more. Of the rest of the true class's lead, counted in halves, a wrong
        column takes 4.
        """
        used = [(plus | minus).bit_count() for plus, minus in self.rows]
        fewest = self.length
        for (i, j), cover in self.covers.items():
            lead = 2 * cover - abs(used[i] - used[j])
            fewest = min(fewest, max(0, -(-lead // 4)))
        return max(0, fewest - 1)

    def figures(self):
        """Recompute every figure that a file may store."""
        dense = all((plus | minus).bit_count() == self.length for plus, minus in self.rows)
        return {
            "n_classes": self.k,
            "n_columns": self.length,
            "kind": "binary" if dense else "ternary",
            "min_row_distance": half(min(self.halves)),
            "correctable_errors": self.corrected(),
            "row_distance_spectrum": {
                str(half(d)): count for d, count in sorted(self.halves.items())
            },
            "min_column_distance_two_sided": half(self.two_sided),
            "min_column_distance_one_sided": half(self.one_sided),
            "max_imbalance": max(abs(a - b) / (a + b) for a, b in self.sizes([1] * self.k)),
        }


def sides(entries):
    """Return the places of pluses and those of minuses as bits, the first place highest."""
    text = "".join(entries)
    return tuple(int("".join("01"[c == side] for c in text), 2) for side in "+-")


def met(one, other):
    """Return in how many places two vectors have the same side."""
    return sum((a & b).bit_count() for a, b in zip(one, other, strict=True))


def product(one, other):
    """Return the inner product of two vectors of +1, -1 and 0."""
    return met(one, other) - met(one, other[::-1])


def half(doubled):
    """Return half of a number, whole where it can be."""
    return doubled if doubled is None else doubled / 2 if doubled % 2 else doubled // 2


class SymbolMatrix:
    """Rows of several symbols, and columns whose symbols are renamed as they first come."""

    def __init__(self, texts, q):
        spaced = q > len(DIGITS)
        need(type(texts) is list and 2 <= len(texts) <= MAX_SIDE, "a wrong size", UNREADABLE)
        names = {str(s) if spaced else DIGITS[s]: s for s in range(q)}
        words = [text.split(" ") if spaced else list(text) for text in texts]
        self.q, self.k, self.length = q, len(words), len(words[0])
        need(1 <= self.length <= MAX_SIDE, "the matrix has a wrong size", UNREADABLE)
        right = all(len(word) == self.length and set(word) <= set(names) for word in words)
        need(right, "rows must be symbols below n_symbols, of one length", UNREADABLE)
        need(3 <= q <= min(127, self.k), "n_symbols is not from 3 to the number of classes", 1)
        self.rows = [tuple(names[name] for name in word) for word in words]
        self.columns = [renamed(column) for column in zip(*self.rows, strict=True)]
        need(all(max(column) > 0 for column in self.columns), "a column has one symbol only")
        need(len(set(self.rows)) == self.k, "two rows are equal")
        need(len(set(self.columns)) == self.length, "two columns are equal up to their names")
        pairs = combinations(self.rows, 2)
        self.row_distances = Counter(sum(a != b for a, b in zip(*p, strict=True)) for p in pairs)
        self.least = min(self.row_distances)
        self.two_sided = least_apart(self.columns, q)
        self.column_distances = set() if self.two_sided is None else {self.two_sided}

    def largest_difference(self, sizes):
        """Return how much the groups of a column that have classes differ at most."""
        worst = 0
        for column in self.columns:
            groups = Counter()
            for symbol, size in zip(column, sizes, strict=True):
                groups[symbol] += size
            worst = max(worst, max(groups.values()) - min(groups.values()))
        return worst

    def figures(self):
        """Recompute every figure that a file may store."""
        return {
            "n_classes": self.k,
            "n_columns": self.length,
            "kind": "q-ary",
            "n_symbols": self.q,
            "min_row_distance": self.least,
            "correctable_errors": (self.least - 1) // 2,
            "row_distance_spectrum": {str(d): n for d, n in sorted(self.row_distances.items())},
            "min_column_distance": self.two_sided,
            "max_imbalance": self.largest_difference([1] * self.k) / self.k,
        }


def renamed(column):
    """Return a column with its symbols numbered in the order in which they first come."""
    names = {}
    return tuple(names.setdefault(symbol, len(names)) for symbol in column)


def least_apart(columns, q):
    """Return the least number of classes that must change groups to make one column of another."""
    least = None
    for one, other in combinations(columns, 2):
        shared = [[0] * q for _ in range(q)]
        for a, b in zip(one, other, strict=True):
            shared[a][b] += 1
        # No way to match groups keeps more together than the largest entries of rows or columns.
        most = min(sum(map(max, shared)), sum(map(max, zip(*shared, strict=True))))
        if least is None or len(one) - most < least:
            apart = len(one) - best_matching(shared)
            least = apart if least is None else min(least, apart)
    return least


def best_matching(weights):
    """Return the largest sum of entries of which no two share a row or a column.

    Shortest augmenting paths with potentials, a row at a time (Kuhn 1955, Munkres 1957).
    """
    q = len(weights)
    row_price, column_price, match = [0] * (q + 1), [0] * (q + 1), [0] * (q + 1)
    for row in range(1, q + 1):
        match[0], place = row, 0
        least, way, done = [math.inf] * (q + 1), [0] * (q + 1), [False] * (q + 1)
        while match[place]:
            done[place] = True
            at, step, after = match[place], math.inf, 0
            for j in range(1, q + 1):
                if not done[j]:
                    cost = -weights[at - 1][j - 1] - row_price[at] - column_price[j]
                    if cost < least[j]:
                        least[j], way[j] = cost, place
                    if least[j] < step:
                        step, after = least[j], j
            for j in range(q + 1):
                if done[j]:
                    row_price[match[j]] += step
                    column_price[j] -= step
                else:
                    least[j] -= step
            place = after
        while place:
            match[place], place = match[way[place]], way[place]
    return sum(weights[match[j] - 1][j - 1] for j in range(1, q + 1))


# ----------------------------------------------------------------- 3. the problem


class Problem:
    """What was wanted: k rows, at most `length` columns, rules for columns, an objective."""

    def __init__(self, data):
        self.k = k = whole(data["n_classes"], 2, MAX_SIDE)
        self.q = whole(data.get("n_symbols", 2), 2, 127)
        self.length = whole(data["n_columns"], 1, 10**9)
        asked = data.get("min_column_distance")
        self.low = 1 if asked is None else whole(asked, 1, k)
        # Which distances two columns may have that both have a plus for class 0.
        self.rule = data.get("separation", "two-sided")
        most = {"two-sided": k - self.low, "one-sided": k, "literal": self.length - self.low}
        self.high = most[self.rule]
        self.sizes, self.limit = data.get("class_sizes"), None
        if self.sizes is not None:
            self.sizes = [whole(size, 1) for size in self.sizes]
            need(len(self.sizes) == k, "class_sizes must have k entries", UNREADABLE)
        share = data.get("max_imbalance")
        if share is not None:
            need(0 <= number(share) <= 1, "max_imbalance must be from 0 to 1", UNREADABLE)
            # The decimal as it is written: 0.1 of 30 is exactly 3.
            self.limit = floor(Fraction(str(share)) * sum(self.sizes or [1] * k))
        targets = data.get("target_distances")
        goal = "max-min-distance" if targets is None else "target-distances"
        right = data.get("objective", "max-min-distance") == goal
        self.targets = targets
        if targets is not None:
            right = right and {len(targets), *map(len, targets)} == {k}
            entries = [entry for row in targets for entry in row]
            right = right and all(type(entry) in (int, float) for entry in entries)
            need(right, "targets must be a square matrix of numbers", UNREADABLE)
            right = right and all(abs(entry) <= 10**6 for entry in entries)
            self.targets = targets = [[Fraction(str(entry)) for entry in row] for row in targets]
            for p, q in combinations(range(k), 2):
                right = right and targets[p][q] == targets[q][p] and targets[p][q] >= 0
                right = right and targets[p][q].denominator <= 10**40
        need(right, "the objective or its targets are malformed", UNREADABLE)
        if self.q > 2:
            right = self.rule == "two-sided" and self.targets is None
            need(right, "several symbols have no such rule or objective", UNREADABLE)
            self.high = k
        self.nested = data.get("nested", False)
        right = type(self.nested) is bool
        if self.nested:  # another rule for each prefix, or none that is known
            right = right and self.targets is None and self.rule != "literal"
            right = right and (self.q == 2 or (self.low == 1 and self.limit is None))
        need(right, "nested codebooks have no such rule or objective", UNREADABLE)
        self.goal_name = "least row distance" if targets is None else "sum of deviations"
        if self.nested:
            self.goal_name = "sum of the prefixes' least row distances"

    def first_prefix(self):
        """Return the fewest columns with as many words as classes: prefixes count from there."""
        return next(n for n in range(1, self.k + 1) if self.q**n >= self.k)

    def broken_rules(self, matrix):
        """Say what a matrix lacks to be a solution."""
        if matrix.k != self.k:
            return [f"the matrix has {matrix.k} classes, the problem {self.k}"]
        if getattr(matrix, "q", 2) != self.q:
            return ["the matrix and the problem have not as many symbols"]
        broken = []
        if matrix.length > self.length:
            broken.append(f"there are {matrix.length} columns where {self.length} are allowed")
        if any(not self.low <= d <= self.high for d in matrix.column_distances):
            broken.append(f"columns are not {self.low} to {self.high} apart ({self.rule})")
        if self.limit is not None:
            worst = matrix.largest_difference(self.sizes or [1] * self.k)
            if worst > self.limit:
                broken.append(f"sides of a column differ by {worst}, more than {self.limit}")
        return broken

    def objective_of(self, matrix):
        """Return the least row distance, their sum over prefixes, or that of deviations."""
        if self.nested:
            reached = prefix_distances(matrix)
            total = sum(reached[self.first_prefix() - 1 :])
            return Fraction(total + (self.length - matrix.length) * reached[-1])
        if self.targets is None:
            return Fraction(matrix.least)
        pairs = combinations(range(self.k), 2)
        distances = (((matrix.rows[p] ^ matrix.rows[q]).bit_count(), p, q) for p, q in pairs)
        return sum((abs(d - self.targets[p][q]) for d, p, q in distances), Fraction(0))

    def columns_by_side(self):
        """Produce (s, number of admissible columns with s classes on the smaller side), s falling.

        Where more than 26 classes have sizes, all columns stand for the admissible ones.
        """
        k = self.k
        if self.limit is None or (self.sizes is not None and k > 26):
            return all_columns_by_side(k)
        if self.sizes is None:
            return ((s, count) for s, count in all_columns_by_side(k) if k - 2 * s <= self.limit)
        # Sets of classes against class 0, by their number and the sum of their sizes.
        sets = Counter({(0, 0): 1})
        for size in self.sizes[1:]:
            sets.update({(n + 1, held + size): count for (n, held), count in sets.items()})
            need(
                len(sets) <= 1 << 20,
                "only if it holds: too many columns to be counted here",
                FEASIBLE,
            )
        counts = Counter()
        for (n, held), count in sets.items():
            if abs(sum(self.sizes) - 2 * held) <= self.limit:
                counts[min(n, k - n)] += count
        return ((s, counts[s]) for s in range(k // 2, 0, -1))


class TernaryProblem:
    """What was wanted of columns that leave classes out: rules, costs and an objective."""

    nested, targets, q = False, None, 2

    def __init__(self, data):
        self.k = k = whole(data["n_classes"], 2, 200)
        self.length = whole(data["n_columns"], 1, 10**9)
        self.goal = data.get("objective", "max-min-cover")
        self.goal_name = GOALS[self.goal]
        right = data["alphabet"] == "ternary" and data.get("separation", "two-sided") == "two-sided"
        need(right, "no such alphabet or separation", UNREADABLE)
        support, apart = data.get("max_support"), data.get("min_column_distance")
        self.support = k if support is None else whole(support, 2, k)
        self.apart = 0 if apart is None else whole(apart, 1, k)
        self.cover = whole(data.get("min_cover", 1))
        self.theta = between(data.get("column_cost", 1), 10)
        budget, share = data.get("budget"), data.get("max_imbalance")
        self.budget = None if budget is None else between(budget, 10**12)
        self.share = None if share is None else between(share, 1)
        sizes = data.get("class_sizes")
        self.sizes = [1] * k if sizes is None else [whole(size, 1, 1 << 40) for size in sizes]
        need(len(self.sizes) == k, "class_sizes must have k entries", UNREADABLE)
        weights, alike = data.get("pair_weights"), data.get("class_similarity")
        right = self.goal == "weighted-cover" or (weights is None and alike is None)
        need(right, "weights have a meaning for the weighted cover only", UNREADABLE)
        self.weights = entries_of_pairs(weights, k, 1)
        self.alike = entries_of_pairs(alike, k, 0)
        right = all(0 < w <= 10**6 for w in self.weights.values())
        right = right and all(0 <= s <= 1 for s in self.alike.values())
        need(right, "weights or similarities are out of range", UNREADABLE)
        self.costs = {}

    def cost(self, size):
        """Return size^theta rounded to six places: what a column costs."""
        if size not in self.costs:
            # The digits before the point, and enough behind it.
            context = Context(prec=30 + len(str(size)) * math.ceil(self.theta))
            top, bottom = Decimal(self.theta.numerator), Decimal(self.theta.denominator)
            power = context.power(Decimal(size), context.divide(top, bottom))
            self.costs[size] = Fraction(power.quantize(Decimal("1e-6"), context=context))
        return self.costs[size]

    def broken_rules(self, matrix):
        """Say what a matrix lacks to be a solution."""
        if matrix.k != self.k:
            return [f"the matrix has {matrix.k} classes, the problem {self.k}"]
        broken = []
        if matrix.length > self.length:
            broken.append(f"there are {matrix.length} columns where {self.length} are allowed")
        if any((plus | minus).bit_count() > self.support for plus, minus in matrix.columns):
            broken.append(f"a column uses more than {self.support} classes")
        if min(matrix.covers.values()) < self.cover:
            broken.append(f"a pair is set apart by fewer than {self.cover} columns")
        held = list(matrix.sizes(self.sizes))
        if self.budget is not None and sum(self.cost(sum(both)) for both in held) > self.budget:
            broken.append("the columns cost more than the budget")
        if self.share is not None and any(abs(a - b) > self.share * (a + b) for a, b in held):
            broken.append("the sides of a column are less even than is allowed")
        if matrix.two_sided is not None and matrix.two_sided < 2 * self.apart:
            broken.append(f"columns are not {self.apart} apart")
        return broken

    def objective_of(self, matrix):
        """Return the least cover, the errors corrected, the least distance or weighted cover."""
        if self.goal == "max-min-cover":
            return Fraction(min(matrix.covers.values()))
        if self.goal == "guaranteed-errors":
            return Fraction(matrix.corrected())
        if self.goal == "max-min-distance":
            return Fraction(min(matrix.halves), 2)
        got = dict.fromkeys(self.weights, Fraction(0))
        for column in matrix.columns:
            plus, minus = ([c for c in range(self.k) if s >> (self.k - 1 - c) & 1] for s in column)
            pairs = [(min(p, q), max(p, q)) for p in plus for q in minus]
            ease = 1 - sum(self.alike[pair] for pair in pairs) / len(pairs)
            for pair in pairs:
                got[pair] += ease
        least = min(share / self.weights[pair] for pair, share in got.items())
        return Fraction(floor(least * 10**6), 10**6)


GOALS = {
    "max-min-cover": "least cover of a pair",
    "guaranteed-errors": "errors surely corrected",
    "max-min-distance": "least row distance",
    "weighted-cover": "weighted cover",
}


def between(value, high):
    """Return a number from 0 to a limit."""
    need(type(value) in (int, float) and 0 <= value <= high, "a number is not in range", UNREADABLE)
    return Fraction(str(value))


def entries_of_pairs(matrix, k, default):
    """Return the entries of a symmetric matrix, to 12 places, by pairs of classes."""
    pairs = combinations(range(k), 2)
    if matrix is None:
        return dict.fromkeys(pairs, Fraction(default))
    right = type(matrix) is list and {len(matrix), *map(len, matrix)} == {k}
    right = right and all(type(entry) in (int, float) for row in matrix for entry in row)
    need(right, "a matrix of numbers is malformed", UNREADABLE)
    exact = [[Fraction(str(round(float(entry), 12))) for entry in row] for row in matrix]
    entries = {(p, q): exact[p][q] for p, q in pairs}
    need(all(exact[q][p] == entries[p, q] for p, q in entries), "a matrix is not symmetric", 1)
    return entries


def prefix_distances(matrix):
    """Return the least row distance of the first column, of the first two, and so on."""
    apart = [0] * comb(matrix.k, 2)
    reached = []
    for column in matrix.columns:
        bits = type(column) is int
        symbols = [column >> i & 1 for i in range(matrix.k)] if bits else column
        pairs = combinations(symbols, 2)
        apart = [d + (a != b) for d, (a, b) in zip(apart, pairs, strict=True)]
        reached.append(min(apart))
    return reached


def all_columns_by_side(k):
    """Produce (s, number of columns of k classes with s on the smaller side), s falling."""
    return ((s, comb(k, s) // (2 if 2 * s == k else 1)) for s in range(k // 2, 0, -1))


# ------------------ 4. the proofs: each assumes a better codebook and finds the contradiction


def most_separated(k, columns, n):
    """Return how many pairs of k rows n columns separate at most: the most balanced come first."""
    total = 0
    for s, count in columns:
        taken = min(n, count)
        total, n = total + taken * s * (k - s), n - taken
        if n == 0:
            break
    return total


def kinds_of_columns(k, q):
    """Produce (pairs separated, number of such columns) of at most q groups, pairs falling."""
    for together in range(least_together(k, q), comb(k, 2)):
        count = 0
        for sizes in group_sizes(k, q, k, together):
            ways, left = 1, k
            for size in sizes:
                ways, left = ways * comb(left, size), left - size
            for times in Counter(sizes).values():
                ways //= math.factorial(times)  # groups of one size have no order
            count += ways
        if count:
            yield comb(k, 2) - together, count


def least_together(k, q):
    """Return how many pairs of k classes in q groups stay together at least."""
    size, larger = divmod(k, q)
    return (q - larger) * comb(size, 2) + larger * comb(size + 1, 2)


def group_sizes(k, q, largest, together):
    """Produce the sizes, falling, of at most q groups of k classes with so many pairs inside."""
    if k == 0:
        if together == 0:
            yield ()
    elif q > 0 and least_together(k, q) <= together:
        for size in range(-(-k // q), min(k, largest) + 1):
            if comb(size, 2) > together:
                return
            for rest in group_sizes(k - size, q - 1, size, together - comb(size, 2)):
                yield (size, *rest)


def n_partitions(k, q):
    """Return how many columns of 2 to q groups there are (Stirling's numbers)."""
    counts = [1] + [0] * (q - 1)
    for _ in range(k - 1):
        counts = [(i + 1) * counts[i] + (counts[i - 1] if i else 0) for i in range(q)]
    return sum(counts[1:])


def check_symbol_distance(problem, name, proof, d):
    """Check a proof that no codebook of several symbols has all row distances >= d."""
    k, q, n, total = problem.k, problem.q, 0, 0
    if d > problem.length:
        return
    for separated, count in kinds_of_columns(k, q):
        taken = min(problem.length - n, count)
        n, total = n + taken, total + taken * separated
        if n == problem.length:
            break
    need(whole(proof["n_columns"]) == n, f"n_columns is {n}")
    if name == "averaging":
        need(whole(proof["largest_sum"]) == total, f"largest_sum is {total}")
        need(comb(k, 2) * d > total, f"the sum of distances may be {total}, which is enough")
        return
    need(name in ("plotkin", "singleton", "hamming", "delsarte"), "no such proof")
    if d > n:
        return
    words = proof["words"]
    need(words["method"] == name, f"this is no {name} proof")
    holds = False
    if name == "plotkin":  # of all rows, so many agree in the first places; average over them
        j, alike = whole(words["shortened"], 0, min(n, 4096)), k
        for _ in range(j):
            alike = -(-alike // q)
        holds = d * comb(alike, 2) > (n - j) * (comb(alike, 2) - least_together(alike, q))
    elif name == "singleton":  # rows that agree in n - d + 1 places are too close
        holds = n - d + 1 < 4096 and k > q ** (n - d + 1)
    elif name == "hamming" and n <= 1024:  # balls around rows are disjoint
        m, e = (n, d) if d % 2 else (n - 1, d - 1)
        ball = sum(comb(m, i) * (q - 1) ** i for i in range((e - 1) // 2 + 1))
        holds = k * ball > q**m
    elif name == "delsarte" and n <= 256:
        c = [whole(value) for value in words["multipliers"]]
        need(1 <= len(c) <= n + 1 and c[0] > 0, "multipliers are too many or none")
        holds = k * c[0] > sum(c) and all(
            sum(factor * krawtchouk(n, q, i, j) for j, factor in enumerate(c)) <= 0
            for i in range(d, n + 1)
        )
    need(holds, f"{shown(name)} does not show that all rows do not fit")


def krawtchouk(n, q, i, j):
    """Return the coefficient of x^i in (1 - x)^j (1 + (q - 1) x)^(n - j)."""
    return sum(
        (-1) ** h * comb(j, h) * comb(n - j, i - h) * (q - 1) ** (i - h)
        for h in range(max(0, i - n + j), min(i, j) + 1)
    )


def check_distance(problem, name, proof, d):
    """Check a proof that no codebook of the problem has all row distances >= d."""
    k = problem.k
    if problem.q > 2:
        check_symbol_distance(problem, name, proof, d)
        return
    if d > problem.length:
        return  # A distance is at most the number of columns.
    if name == "inner-products":
        need(problem.rule == "two-sided", "inner products are limited by the two-sided rule only")
        check_polynomial(proof, k, problem.length, problem.low, d)
        return
    n = check_n_columns(problem, proof)
    if name in ("averaging", "parity"):
        total, needed = most_separated(k, problem.columns_by_side(), n), comb(k, 2) * d
        if name == "parity":
            # The distance of two rows is even if both have an even, or both an odd, number of
            # minuses. With a rows of one kind: the least even and odd distances allowed.
            even, odd = d + d % 2, d + 1 - d % 2
            within = [comb(a, 2) + comb(k - a, 2) for a in range(k // 2 + 1)]
            needed = min(even * w + odd * (comb(k, 2) - w) for w in within)
            need(whole(proof["needed_sum"]) == needed, f"needed_sum is {needed}")
        need(whole(proof["largest_sum"]) == total, f"largest_sum is {total}")
        need(needed > total, f"the sum of distances may be {total}, which is enough")
        return
    if name == "pairs":
        check_column_pairs(problem, proof["cases"], n, d)
        return
    need(name in ("plotkin", "singleton", "hamming", "johnson", "delsarte"), "no such proof")
    if d <= n:
        need(proof["words"]["method"] == name, f"this is no {name} proof")
        need(check_words(proof["words"], n, d, n) < k, "all rows fit")


def check_column_pairs(problem, cases, n, d):
    """Check that n columns of no sizes give all rows distances >= d, by counting pairs of columns.

    A column of size s has s classes on its smaller side; with signs such that its entries have
    the sum k - 2s, two columns are known by their sizes and their inner product h, up to its sign
    if a sum is 0. With so many columns of each size, let y count the ordered pairs of different
    columns of sizes s <= t by h. A case has a multiplier for each of these equations for y, which
    together cannot hold: all pairs are counted; the columns of size s separate pairs of rows
    whose distances are known up to the excess over d; so are the inner products of a column with
    the sum of all columns, each times the sum of its entries; and the squares of all distances.
    """
    k, most_columns = problem.k, dict(problem.columns_by_side())
    need(k <= 12, "only up to 12 classes have their pairs of columns counted")
    need(n <= sum(most_columns.values()), "there are not so many columns")
    known = {tuple(case["columns"]): case["multipliers"] for case in cases}
    apart = k - 2 * problem.low if problem.rule == "two-sided" else k - 2
    for number, sizes in enumerate(numbers_of_columns(k, most_columns, n, comb(k, 2) * d)):
        need(number < 200_000, "there are too many sizes of columns")
        total = sum(count * s * (k - s) for s, count in enumerate(sizes, 1))
        excess = total - comb(k, 2) * d
        squares = squares_of_distances(k, d, excess)
        if not squares:
            continue
        need(sizes in known, f"no case has {shown(list(sizes))} columns of each size")
        relations = relations_of_columns(k, sizes, apart)
        used = [s for s, count in enumerate(sizes, 1) if count]
        limits = []
        for s, t in combinations_with_replacement(used, 2):
            every = sizes[s - 1] * (sizes[t - 1] - (s == t))
            limits.append(({r: 1 for r in relations if r[:2] == (s, t)}, every, every))
        for s in used:
            own = sizes[s - 1] * s * (k - s) * (d - 1)
            shared = {r: both for r, (both, _) in relations.items() if s in r[:2]}
            limits.append((shared, own, own + sizes[s - 1] * excess))
        for s in used:
            if 2 * s < k:
                sums = {r: (k - 2 * (r[0] + r[1] - s)) * r[2] for r in relations if s in r[:2]}
                middle = sizes[s - 1] * (k - 2 * s) * (k * (n - 1) - 2 * (k - 1) * d)
                around = 4 * sizes[s - 1] * excess
                limits.append((sums, middle - around, middle + around))
        twice = {r: both * (1 + (r[0] < r[1])) for r, (both, _) in relations.items()}
        limits.append((twice, min(squares) - total, max(squares) - total))
        multipliers = [whole(u, -(10**60), 10**60) for u in known[sizes]]
        need(len(multipliers) == len(limits), "a case has not a multiplier for each equation")
        forced, left = 0, Counter()
        for u, (weights, low, high) in zip(multipliers, limits, strict=True):
            forced += u * (low if u > 0 else high)
            for relation, weight in weights.items():
                left[relation] += u * weight
        possible = sum(max(0, left[r]) * most for r, (_, most) in relations.items())
        need(forced > possible, "the multipliers of a case do not exclude it")


def numbers_of_columns(k, most_columns, n, needed):
    """Produce how many of n columns have size 1, 2, ... so that they separate enough pairs."""
    found = [((), n, 0)]
    while found:
        taken, left, total = found.pop()
        size = k // 2 - len(taken)
        if total + left * size * (k - size) < needed:
            continue
        if size == 0:
            yield taken
            continue
        found += [
            ((count, *taken), left - count, total + count * size * (k - size))
            for count in range(min(left, most_columns.get(size, 0)) + 1)
        ]


def squares_of_distances(k, d, excess):
    """Return limits of the sum of the squares of distances >= d with so much above d in all.

    Rows with an even number of minuses have even distances, as do all others among themselves. So
    some distances are d and an odd number, at least 1, the others d and an even number e, for
    which e^2 >= 2 e; the squares are largest where one distance has all that is left.
    """
    limits = []
    for part in range(k // 2 + 1):
        even = comb(part, 2) + comb(k - part, 2)
        odd = even if d % 2 else comb(k, 2) - even
        rest = excess - odd
        if rest >= 0 and rest % 2 == 0:
            least = comb(k, 2) * d * d + 2 * d * excess
            limits += [least + odd + 2 * rest, least + max(0, odd - 1) + (rest + (odd > 0)) ** 2]
    return limits


def relations_of_columns(k, sizes, apart):
    """Return, by sizes s <= t and inner product, the pairs of rows that both columns separate.

    Beside it stands how many ordered pairs of columns there are at most.
    """
    columns = {s: [c for c in range(1, 1 << k) if c.bit_count() == s] for s in range(1, k // 2 + 1)}
    relations = {}
    used = [s for s, count in enumerate(sizes, 1) if count]
    for s, t in combinations_with_replacement(used, 2):
        near, both = Counter(), {}
        for column in columns[t]:
            h = k - 2 * (column ^ ((1 << s) - 1)).bit_count()
            h = abs(h) if k in (2 * s, 2 * t) else h
            common = (column & ((1 << s) - 1)).bit_count()
            # Both separate two rows if one has the signs of neither and the other both, or so.
            both[h] = common * (k - s - t + common) + (s - common) * (t - common)
            near[h] += 1
        # A column of two equal sides stands twice in the list.
        ways = {h: count // (1 + (2 * t == k)) for h, count in near.items()}
        back = {h: ways[h] * len(columns[s]) // (1 + (2 * s == k)) for h in ways}
        of_size = len(columns[t]) // (1 + (2 * t == k))
        for h, count in ways.items():
            if h != k and abs(h) <= apart:
                every = sizes[s - 1] * (sizes[t - 1] - (s == t))
                most = min(every, sizes[s - 1] * count, sizes[t - 1] * back[h] // of_size)
                relations[s, t, h] = both[h], most
    return relations


def check_n_columns(problem, proof):
    """Return how many columns fit, by the proof: they are words of length k - 1 after a plus."""
    n = whole(proof["n_columns"], 0, problem.length)
    if n < problem.length and proof["packing"]["method"] == "count":
        left = n
        for _, count in problem.columns_by_side():
            left -= count
            need(left >= 0, f"there are more than {n} columns")
    elif n < problem.length:
        size = check_words(proof["packing"], problem.k - 1, problem.low, problem.high)
        need(size <= n, f"more than {n} columns may fit")
    return n


def check_words(proof, n, low, high):
    """Return `size`, checked: no size + 1 words of length n have distances from low to high."""
    method, size, holds = proof["method"], whole(proof["size"], 1), False
    m = size + 1
    # A parity bit makes all distances even, or replaces a place: A(n, 2t - 1) = A(n + 1, 2t).
    e, d = n + low % 2, low + low % 2
    if method == "alone":
        holds = high < low
    elif method == "singleton":  # the first n - low + 1 places tell words apart
        holds = size.bit_length() > max(0, n - low + 1)
    elif method == "hamming" and e <= 1024:  # without the parity bit, balls are disjoint
        holds = d <= e and m * sum(comb(e - 1, i) for i in range(d // 2)) > 1 << (e - 1)
    elif method == "plotkin":  # of a words that agree in j places, a^2 / 4 pairs differ in another
        j = whole(proof["shortened"], 0, e)
        a = -(-m >> j)
        holds = d * (a * (a - 1) // 2) > (e - j) * (a // 2) * (a - a // 2)
    elif method == "grey-rankin":  # m vectors in R^k: squared inner products sum to >= m^2 k
        k, s = n + 1, n + 1 - 2 * low
        holds = high == k - low and s >= 0 and m * k * k + m * (m - 1) * s * s < m * m * k
    elif method == "johnson" and e <= 128:  # an average translation gives so many weight w
        w = whole(proof["weight"], 0, e)
        holds = m * comb(e, w) > constant_weight(e, d, w, proof["steps"]) << (e - 1)
    elif method == "delsarte" and e <= 128:  # the parity bit would break an upper limit
        even = (e, d, range(d, e + 1, 2)) if high >= n else (n, d, range(low, high + 1))
        holds = delsarte(proof, *even, m)
    need(holds, f"{shown(method)} does not show that at most {size} words fit")
    return size


def constant_weight(n, d, w, steps):
    """Bound the words of length n, weight w and even least distance d (Johnson 1962).

    A step 1 (0) keeps the words with a one (zero) in the place where most have it.
    """
    if steps:
        need(w > 0 if steps[0] == "1" else steps[0] == "0" and w < n, "steps lead nowhere")
        one = int(steps[0])
        return n * constant_weight(n - 1, d, w - one, steps[1:]) // (w if one else n - w)
    if 2 * w < d:
        return 1
    # Two words share at most w - d / 2 ones; count the pairs of words with ones in a place.
    room = w * w - w * n + d // 2 * n
    need(room > 0, "steps end where nothing is known")
    return d // 2 * n // room


def delsarte(proof, n, d, distances, m):
    """Tell whether Delsarte's inequalities exclude m words of length n.

    With all c_j >= 0, the sum of F(i) = sum of c_j K_i(j) / C(n, i) over the distances i of all
    ordered pairs of words is at least c_0 m^2. F(0) is the sum of all c_j. If F(i) <= u_i, and
    at most T_i words are at the distance i from one, it is at most m (F(0) + sum of u_i T_i).
    """
    c = [whole(value) for value in proof["multipliers"]]
    need(1 <= len(c) <= n + 1, "multipliers are too many or none")
    u, most = dict.fromkeys(distances, 0), sum(c)
    for i, allowance, steps in proof.get("weights", ()):
        need(u.get(whole(i)) == 0, "a weight stands twice, or for no distance")
        u[i] = whole(allowance)
        most += u[i] * constant_weight(n, d, min(i, n - i), steps)
    for i in distances:
        values = (
            sum((-1) ** h * comb(j, h) * comb(n - j, i - h) for h in range(min(i, j) + 1))
            for j in range(len(c))
        )
        if sum(c_j * value for c_j, value in zip(c, values, strict=True)) > u[i] * comb(n, i):
            return False
    return m * c[0] > most


def check_polynomial(proof, k, n, rho, d):
    """Check that n columns rho apart, two-sided, cannot make all row distances d on average.

    All distances are then d and all columns as balanced as can be. With the sum s of each column
    made 1 (odd k) or 0, X X' = 2 d I + (n - 2 d) J gives the sums of the inner products h of a
    column with the others, and of their squares; h = k - 2 (an even distance).
    """
    a, b, c = (whole(value, -(10**99), 10**99) for value in proof["polynomial"])
    s = k % 2
    need(d * comb(k, 2) == n * (k * k // 4), "the row distance is not the average of all")
    need(s == 1 or b == 0, "for even k, inner products have any sign")
    inner = [k - 2 * apart for apart in range(0, k + 1, 2) if rho <= apart <= k - rho]
    need(all(a + b * h + c * h * h >= 0 for h in inner), "the polynomial is somewhere negative")
    first, second = s * (2 * d - n) - k, 2 * d * k + s * (n - 2 * d) - k * k
    need(a * (n - 1) + b * first + c * second < 0, "the polynomial has no negative sum")


def least_deviation(problem, name, proof):
    """Return what the deviations from the targets add up to at least, by the proof."""
    k, length, targets = problem.k, problem.length, problem.targets
    pairs = list(combinations(range(k), 2))
    if name == "sum":  # all columns together separate fewer pairs than the targets ask for
        total = most_separated(k, all_columns_by_side(k), length)
        need(whole(proof["largest_sum"]) == total, f"largest_sum is {total}")
        return sum((targets[p][q] for p, q in pairs), Fraction(-total))
    need(name == "cut", "no such proof")
    # Rows with an even and an odd number of minuses are the sides of a cut: distances across it
    # are odd, the others even. Every cut of each group is tried; between groups both may be.
    unit, groups = whole(proof["denominator"], 1), proof["groups"]
    classes = [whole(p) for group in groups for p in group]
    need(sorted(classes) == list(range(k)), "groups are no partition of the classes")
    need(sum(1 << min(len(group), 40) for group in groups) <= 1 << 20, "groups are too large")
    costs = {}
    for p, q in pairs:
        near = min(floor(targets[p][q]), length)
        options = range(max(0, near - 1), min(length, near + 1) + 1)
        both = [min(abs(targets[p][q] - x) for x in options if x % 2 == odd) for odd in (0, 1)]
        costs[p, q] = costs[q, p] = [floor(cost * unit) for cost in both]
    group_of = {p: i for i, group in enumerate(groups) for p in group}
    total = sum(min(costs[p, q]) for p, q in pairs if group_of[p] != group_of[q])
    return Fraction(total + sum(least_cut(group, costs) for group in groups), unit)


def least_cut(group, costs):
    """Return the least cost of a cut of a group, placing one class after another."""
    best = sum(costs[pair][0] for pair in combinations(group, 2))
    stack = [(0, ())]
    while stack:
        cost, sides = stack.pop()
        if cost >= best:
            continue  # costs never fall
        if len(sides) == len(group):
            best = cost
            continue
        q = group[len(sides)]
        for side in (0, 1) if sides else (0,):
            added = sum(costs[group[i], q][side ^ other] for i, other in enumerate(sides))
            stack.append((cost + added, (*sides, side)))
    return best


# --------------------------- 5. the same for ternary codebooks: covers instead of distances


def check_ternary(problem, name, proof, value):
    """Check a proof that no codebook of the problem reaches more than a value."""
    need(value >= 0, "nothing is below 0")
    if problem.goal == "weighted-cover":
        need(name == "dual", "no such proof")
        check_dual(problem, proof, Fraction(floor(value * 10**6) + 1, 10**6))
    elif name == "averaging":
        check_average(problem, proof, value)
    else:
        need(name in COVERS and problem.goal != "max-min-distance", "no such proof")
        if problem.goal == "max-min-cover":
            COVERS[name](problem, proof, floor(value) + 1)
            return
        # To correct e errors, the lead of both of two classes must be above 4 e: the cover is
        # above 2 e. The proof may exclude less than is needed.
        covers = range(2 * floor(value) + 3, 2 * floor(value) + 1 if value >= 1 else 0, -1)
        tries = [outcome(COVERS[name], problem, proof, cover)[1:] for cover in covers]
        need((OPTIMAL, "") in tries, tries[0][1])


def price(text):
    """Return a price: a text such as "3" or "12/5"."""
    right = type(text) is str and re.fullmatch(r"[0-9]{1,200}(/[1-9][0-9]{0,199})?", text)
    need(right and text.isascii(), "a price is malformed")
    return Fraction(text)


def dearest(problem, proof, kinds):
    """Return what the columns may be worth together, by prices of a column and of its cost.

    Kinds are (worth, size, number). Each column taken is worth its prices at most, but for what
    it is worth beyond them; that is granted to all that there are, taken or not.
    """
    column, cost = price(proof["column_price"]), price(proof["cost_price"])
    need(cost == 0 or problem.budget is not None, "there is no budget")
    total = problem.length * column + cost * (problem.budget or 0)
    paid = {}
    for worth, size, count in kinds:
        if size not in paid:
            paid[size] = column + (cost * problem.cost(size) if cost else 0)
        if worth > paid[size]:
            total += count * (worth - paid[size])
    return total


def kinds_by_sides(problem, worth):
    """Produce kinds of columns by the classes on their sides, each at the least size."""
    k, sizes = problem.k, sorted(problem.sizes)
    for a in range(1, problem.support // 2 + 1):
        for b in range(a, problem.support - a + 1):
            count = math.factorial(k) // math.factorial(a) // math.factorial(b)
            count //= math.factorial(k - a - b) * (2 if a == b else 1)
            yield worth(a, b), sum(sizes[: a + b]), count


def check_average(problem, proof, value):
    """Check that the pairs of classes cannot all have more of the total."""
    k = problem.k
    if problem.goal == "max-min-distance":  # a column has C(k, 2) halves, less equal, plus opposite
        target = floor(2 * value) + 1
        kinds = kinds_by_sides(problem, lambda a, b: comb(k, 2) - comb(a, 2) - comb(b, 2) + a * b)
    else:
        errors = problem.goal == "guaranteed-errors"
        target = 2 * floor(value) + 3 if errors else floor(value) + 1
        kinds = kinds_by_sides(problem, lambda a, b: a * b)
    total = floor(dearest(problem, proof, kinds))
    need(whole(proof["total"]) == total, f"total is {total}")
    need(comb(k, 2) * target > total, f"the total may be {total}, which is enough")


def check_inertia(problem, proof, t):
    """Check that covers >= t need more columns, by Graham and Pollak (1972) with excess.

    Each column brings one negative eigenvalue at most. The covers are t J + (F - t I), where the
    positive eigenvalues of F >= 0 have at most the sum of its entries above the diagonal.
    """
    excess = floor(dearest(problem, proof, kinds_by_sides(problem, lambda a, b: a * b)))
    excess -= t * comb(problem.k, 2)
    holds = excess < 0 or problem.length < problem.k - 1 - excess // t
    need(holds, "there are columns enough")


def check_degrees(problem, proof, t):
    """Check that the degrees of classes, the sums of their covers, are more than columns give.

    A degree is a multiple of m, hence t (k - 1) + r at least, or the class gets a remainder. There
    are at most k such classes, and at most as many as remainders: take a mean of the two.
    """
    k, m, share = problem.k, whole(proof["modulus"], 2, problem.k), price(proof["share"])
    need(share <= 1, "share is above 1")
    r = -t * (k - 1) % m

    def worth(a, b):
        return 2 * a * b + share * r * (a * (b % m > 0) + b * (a % m > 0))

    given = dearest(problem, proof, kinds_by_sides(problem, worth)) + (1 - share) * r * k
    need(given < k * (t * (k - 1) + r), "the columns give all degrees")


def check_filled(name):
    """Return a check of words: zeros that become + or - leave opposite entries opposite."""

    def check(problem, proof, t):
        need(proof["words"]["method"] == name, f"this is no {name} proof")
        need(check_words(proof["words"], problem.length, t, problem.length) < problem.k, "rows fit")

    return check


def check_packing(problem, proof, t):
    """Check that rows, which are subcubes, have disjoint neighbourhoods that do not fit.

    A row used s times has a share f(s) of all words with (t - 1) / 2 places wrong at most.
    """
    n, r = problem.length, (t - 1) // 2
    slope, offset = price(proof["slope"]), price(proof["offset"])
    need(n <= 256, "there are too many columns")
    for s in range(n + 1):
        words = sum(comb(s, i) for i in range(min(r, s) + 1))
        need((offset - slope * s) * (1 << s) <= words, "the line is not below the shares")
    need(problem.k * offset - slope * n * problem.support > 1, "the rows fit")


def check_pairs(problem, proof, t):
    """Check Delsarte's inequalities for two rows with o opposite of n common entries.

    The coefficients of (1 - x)^o (1 + x)^(n - o), summed over ordered pairs of rows, are sums of
    squares, the first is k^2. A row with itself has o = 0, and is used `support` / k of the time.
    """
    k, length = problem.k, problem.length
    c = [whole(value) for value in proof["multipliers"]]
    right = length <= 64 and 1 <= len(c) <= length + 1 and c[0] > 0
    need(right, "columns or multipliers are too many, or none")
    for n in range(t, length + 1):
        for o in range(t, n + 1):
            values = (krawtchouk(n, 2, j, o) for j in range(len(c)))
            total = sum(c_j * value for c_j, value in zip(c, values, strict=True))
            need(total <= 0, "two rows have a positive sum")
    full = sum(c_j * comb(length, j) for j, c_j in enumerate(c))
    most = problem.support * full + (k - problem.support) * c[0]
    need(k * k * c[0] > most, "the multipliers leave room for all rows")


def check_enumeration(problem, _, t):
    """Go through all sets of columns, where they are few: a byte counts the cover of a pair."""
    k, pairs = problem.k, list(combinations(range(problem.k), 2))
    need(k <= 11 and problem.length <= 20, "there are too many columns")
    columns = []
    for plus, minus in all_columns(k, problem.support):
        met_pairs = (
            i
            for i, (p, q) in enumerate(pairs)
            if (plus >> p & minus >> q | plus >> q & minus >> p) & 1
        )
        columns.append(sum(1 << 8 * i for i in met_pairs))
    n = min(problem.length, len(columns))
    need(comb(len(columns), n) <= 200_000, "there are too many sets of columns")
    if t > n:
        return
    ones = sum(1 << 8 * i for i in range(len(pairs)))
    rest, high = ones * (128 - t), ones * 128
    found = any(sum(chosen, rest) & high == high for chosen in combinations(columns, n))
    need(not found, "there are columns that set all pairs apart")


def all_columns(k, support):
    """Produce the sides of all columns as bits, those with the lowest class used on the first."""
    for used in range(1 << k):
        if 2 <= used.bit_count() <= support:
            lowest = used & -used
            minus = rest = used ^ lowest
            while minus:
                yield used ^ minus, minus
                minus = minus - 1 & rest


def check_dual(problem, proof, goal):
    """Check that at the prices of pairs, columns are worth less than what the goal demands."""
    k, pairs = problem.k, list(combinations(range(problem.k), 2))
    prices = [whole(value) for value in proof["pair_prices"]]
    need(len(prices) == len(pairs), "not every pair has a price")
    demand = sum(y * problem.weights[pair] for y, pair in zip(prices, pairs, strict=True))
    need(demand > 0, "the prices demand nothing")
    prices = dict(zip(pairs, prices, strict=True))
    if k > 14:
        kinds = kinds_by_priced_classes(problem, prices)
    else:
        kinds = kinds_of_columns_by_pairs(problem, prices, price(proof["column_price"]))
    need(dearest(problem, proof, kinds) < goal * demand, "more is not excluded")


def kinds_by_priced_classes(problem, prices):
    """Produce kinds of columns by how many classes with a price are on their sides.

    Every price is the highest. If all classes have prices, a column is worth how unlike its pairs
    are, class by class of either side; else as if all pairs were as unlike as any.
    """
    k, top = problem.k, max(prices.values())
    classes = sorted({p for pair, y in prices.items() if y for p in pair})
    unit = math.lcm(*(alike.denominator for alike in problem.alike.values()))
    unlike = {pair: int(unit * (1 - alike)) for pair, alike in problem.alike.items()}
    if len(classes) < k:
        unlike = dict.fromkeys(unlike, max(unlike.values()))
    n, sizes = len(classes), sorted(problem.sizes)
    most = [[0] * (n + 1) for _ in range(n)]  # of b others for a classes: most[b][a]
    rows = [
        sorted((unlike[min(p, q), max(p, q)] for q in classes if q != p), reverse=True)
        for p in classes
    ]
    for b in range(1, n):
        best = sorted((sum(row[:b]) for row in rows), reverse=True)
        for a in range(1, n + 1):
            most[b][a] = most[b][a - 1] + best[a - 1]
    for a in range(1, n):
        for b in range(1, min(n, problem.support) - a + 1):
            ways = Fraction(comb(n, a) * comb(n - a, b) * 3 ** (k - n), 2)
            yield Fraction(top * min(most[b][a], most[a][b]), unit), sum(sizes[: a + b]), ways


def kinds_of_columns_by_pairs(problem, prices, least):
    """Produce the columns that are worth more than some price, each a kind of its own.

    A column is worth the prices of its pairs times its ease. For each side, tables over all sets of
    other classes hold the sums of a column, and grow class by class. A column and its negative
    count half each.
    """
    k, half = problem.k, Fraction(1, 2)
    unit = math.lcm(*(alike.denominator for alike in problem.alike.values()))
    alike = {pair: int(unit * value) for pair, value in problem.alike.items()}
    of = {}
    for pair, price_ in prices.items():
        of[pair] = of[pair[::-1]] = price_, alike[pair]
    for minus in range(1, 1 << k):
        side = [q for q in range(k) if minus >> q & 1]
        table = [(0, 0, 0, sum(problem.sizes[q] for q in side))]
        for p in range(k):
            if not minus >> p & 1:
                worth, like = (sum(of[p, q][i] for q in side) for i in (0, 1))
                size = problem.sizes[p]
                table += [(w + worth, s + like, n + 1, t + size) for w, s, n, t in table]
        m = len(side)
        limits = [floor(least * unit * n * m) for n in range(k)]
        for worth, like, n, size in table:
            if n and worth * (unit * n * m - like) > limits[n] and n + m <= problem.support:
                yield worth * Fraction(unit * n * m - like, unit * n * m), size, half


COVERS = {
    **{name: check_filled(name) for name in ("plotkin", "singleton", "hamming", "delsarte")},
    "inertia": check_inertia,
    "degrees": check_degrees,
    "packing": check_packing,
    "pairs": check_pairs,
    "enumeration": check_enumeration,
}


# ---------------------------------------------------------------- 6. the judgement


def theory_of(proof):
    """Return name, data and exact value of a proof by coding theory."""
    need(proof["kind"] == "theory", "this must be proved by theory")
    name, value, data = (proof["facts"][key] for key in ("name", "value", "proof"))
    bound = number(proof["bound"])
    need(value == str(bound), f"it is about {shown(value)}")
    return name, data, bound


def check_bound(problem, matrix, proof):
    """Return the bound that a proof proves; stop with FEASIBLE if that is not known here."""
    kind, facts = proof["kind"], proof["facts"]
    if kind == "theory":
        name, data, value = theory_of(proof)
        if type(problem) is TernaryProblem:
            check_ternary(problem, name, data, value)
        elif problem.nested:
            check_prefixes(problem, name, data, value)
        elif problem.targets is None:
            check_distance(problem, name, data, floor(value) + 1)
        else:
            need(least_deviation(problem, name, data) >= value, f"{value} is not reached")
        return value
    if kind == "exhaustive":
        need(type(problem) is Problem, "all columns prove nothing here")
        # The columns are distinct and admissible, so they are all if there are as many, and
        # fewer columns never bring rows further apart.
        plain = problem.targets is None and not problem.nested
        need(plain and problem.low == 1, "all columns prove nothing here")
        need(problem.q == 2 or problem.limit is None, "columns are not counted by their balance")
        if problem.q > 2:
            count = n_partitions(problem.k, problem.q)
        else:
            count = sum(count for _, count in problem.columns_by_side())
        need(count == matrix.length, "not all admissible columns are used")
        need(number(proof["bound"]) == matrix.least, "the bound is not the distance of all columns")
        return Fraction(matrix.least)
    need(not problem.nested, "prefixes must be bounded by theory")
    said = [facts] if kind == "solver" else [facts["first"], facts["second"]]
    for by in said:
        check_words_of_solver(by)
    need(len({by["solver"] for by in said}) == len(said), "two solvers are claimed and are one")
    names = (f"{by['solver']} {by['version']} on {by['formulation']}" for by in said)
    raise StopError(FEASIBLE, "only by the word of " + " and ".join(map(shown, names)))


def check_prefixes(problem, name, data, value):
    """Check that the prefixes, each a codebook of its own, add up to no more than a value."""
    first, total = problem.first_prefix(), 0
    need(name == "nested", "no such proof")
    prefixes = data["prefixes"]
    need(type(prefixes) is list, "prefixes must be a list")
    need(len(prefixes) == problem.length + 1 - first, "not every prefix has a bound")
    for length, prefix in enumerate(prefixes, start=first):
        need(prefix["n_columns"] == length, f"the prefix of {length} columns is missing")
        shorter = copy(problem)
        shorter.length = length
        check_distance(shorter, prefix["name"], prefix["proof"], whole(prefix["value"]) + 1)
        total += prefix["value"]
    need(total == value, f"the bounds on the prefixes add up to {total}")


def check_words_of_solver(by):
    """Refuse what no solver can have said."""
    check_keys(by, SOLVER, complete=True)
    need(by["solver"] in ("highs", "scip", "gurobi"), "there is no such solver")
    need(re.fullmatch(r"[0-9][0-9A-Za-z .()+-]{0,59}", by["version"]), "no solver has that version")
    need(by["formulation"] in PROGRAMS, "there is no such program")
    need(0 < len(by["termination"]) <= 200, "a solver says in a few words why it ended")
    need(type(by["n_nodes"]) is int and by["n_nodes"] >= 0, "nodes are counted from 0")
    check_keys(by["tolerances"], TOLERANCES, complete=True)
    right = all(type(t) in (int, float) and 0 <= t <= 1 for t in by["tolerances"].values())
    need(right, "tolerances are from 0 to 1")


def ended_early(proof):
    """Tell whether a solver on whose word a proof rests did not prove its solution optimal."""
    facts = {} if proof is None else proof["facts"]
    kind = None if proof is None else proof["kind"]
    said = {"solver": [facts], "two-solvers": facts.values()}.get(kind, ())
    return any(by["termination"] != "proved" for by in said)


def check_separation(matrix, proof):
    """Check that no codebook as good, of as many columns, has them further apart."""
    name, data, value = theory_of(proof)
    k, rho = matrix.k, floor(value) + 1
    need(name == "separation" and not hasattr(matrix, "q"), "no such proof")
    need(value >= (matrix.two_sided or 0), "columns are further apart than the bound")
    if "polynomial" in data:
        check_polynomial(data, k, matrix.length, rho, matrix.least)
    elif rho < k:
        size = check_words(data["packing"], k - 1, rho, k - rho)
        need(size < matrix.length, "as many columns may fit")


def outcome(check, *arguments):
    """Return what a check of a proof returns, the status it stops with if it does, and why."""
    try:
        return check(*arguments), OPTIMAL, ""
    except StopError as stop:
        status, reason = stop.args
        return None, FEASIBLE if status == FEASIBLE else INVALID, reason
    except MISSHAPEN:
        return None, INVALID, "it is malformed"


def problem_and_matrix(document):
    """Return what was wanted, and the codebook of the kind that is wanted."""
    asked, texts = document["certificate"]["problem"], document["matrix"]
    q = whole(document.get("n_symbols", 2), 2, 127)
    if "alphabet" in asked:
        problem = TernaryProblem(asked)
        need(q == 2, "the entries are not +, - and 0")
        return problem, TernaryMatrix(texts)
    return Problem(asked), Matrix(texts) if q == 2 else SymbolMatrix(texts, q)


def judge(path):
    """Check everything a file claims; return the exit status and the lines to print."""
    document = read(path)
    claim, stored = document["certificate"], document.get("figures")
    problem, matrix = problem_and_matrix(document)
    figures = matrix.figures()
    wrong = problem.broken_rules(matrix)
    for key, value in ({} if stored is None else stored).items():
        if key not in figures or type(value) is bool or value != figures[key]:
            wrong.append(f"the figure {shown(key)} is not {shown(value)}")
    need(not wrong, "; ".join(wrong))

    objective = problem.objective_of(matrix)
    bound = None if claim.get("bound") is None else number(claim["bound"])
    proof, separation = claim.get("proof"), claim.get("separation_proof")
    proved, status, reason = None, FEASIBLE, ""
    if proof is not None:
        proved, status, reason = outcome(check_bound, problem, matrix, proof)
    apart = OPTIMAL, ""
    if separation is not None:
        _, *apart = outcome(check_separation, matrix, separation)
    better = bound is not None and (
        bound < objective if problem.targets is None else bound > objective
    )
    unfounded = bound is not None and (proof is None or number(proof["bound"]) != bound)
    for false, what in (
        (number(claim["objective"]) != objective, f"the objective is {float(objective):g}"),
        (unfounded, "nothing stands behind the bound"),
        (better, "the codebook is better than the bound"),
        (claim["status"] == "optimal" and bound != objective, "called optimal, not at the bound"),
        (claim["status"] == "optimal" and ended_early(proof), "called optimal, not by the solver"),
        (status == INVALID, f"the proof of the bound: {reason}"),
        (apart[0] != OPTIMAL, f"the proof of the separation: {apart[1]}"),
    ):
        wrong += [what] if false else []
    need(not wrong, "; ".join(wrong))
    lines = [f"{key}: {value}" for key, value in figures.items()]
    if separation is not None:
        lines.append(f"columns of a codebook as good: {separation['bound']} apart at most, proved")
    if problem.nested:
        lines.append(f"least row distances of prefixes: {prefix_distances(matrix)}")
    goal = f"{problem.goal_name} {float(objective):.12g}"
    if proved == objective:
        ground = shown(proof["facts"].get("name", "every admissible column is used"))
        return OPTIMAL, [*lines, f"OPTIMAL: {goal}, proved here ({ground})"]
    if bound is None:
        return FEASIBLE, [*lines, f"FEASIBLE: {goal}; no bound is claimed"]
    gap = float(abs(bound - objective) / (max(abs(bound), objective) or 1))
    known = "optimal" if claim["status"] == "optimal" else f"bound {shown(claim['bound'])}"
    known += " proved here" if proved is not None else f" {reason}"
    if proof["kind"] in ("solver", "two-solvers"):
        doubt = "NOT VERIFIED: the codebook is as claimed, but nothing here checks the bound"
        return FEASIBLE, [*lines, f"{doubt}: {goal}; {known}"]
    return FEASIBLE, [*lines, f"FEASIBLE within a gap of {gap:.1%}: {goal}; {known}"]


def main(arguments):
    """Check the file that is named; return the exit status."""
    if len(arguments) != 1:
        print("usage: python verify_design.py FILE.json", file=sys.stderr)
        return 2
    watch = threading.Timer(SECONDS, give_up)
    watch.daemon = True
    watch.start()
    try:
        status, lines = judge(arguments[0])
    except StopError as stop:
        status, reason = stop.args
        lines = [f"{'INVALID' if status == INVALID else 'not a design file'}: {reason}"]
    except (*MISSHAPEN, OSError, MemoryError) as error:
        status, lines = UNREADABLE, [f"not a design file: {type(error).__name__}: {shown(error)}"]
    watch.cancel()
    print("\n".join(lines))
    return status


def give_up():
    """End the verification: it takes too long."""
    print(f"NOT VERIFIED: it was not done within {SECONDS} seconds", flush=True)
    os._exit(FEASIBLE)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
