"""The stages of a nested design: codebooks whose first columns are good codebooks themselves.

Columns are added one by one, each so that it parts the rows that are nearest; or they are those
of a construction for a shorter length, in an order found in the same way, before others are
added. The best of these is improved by annealing over all prefixes at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ecoc._checks import counted
from ecoc._limits import Budget
from ecoc._typing import Ints, Signs
from ecoc.bounds import column_limit
from ecoc.codes import Codebook, Provenance
from ecoc.codes.validation import normalised_columns
from ecoc.design.problem import DesignProblem, balance_limit
from ecoc.design.result import Certificate, n_partitions
from ecoc.design.run import DesignRun
from ecoc.errors import InfeasibleError, InvalidCodebookError, TooLargeError

__all__ = ["NestedPortfolio"]

_MAX_SIZE = 1e9
"""Classes squared, times columns: what it takes to know the distances of all prefixes."""

_GROWTH_WORK = 4e8
_SEARCH_WORK = 2e9
"""What a stage may spend without a time limit: entries that its moves look at."""

_CONSTRUCTION_WORK = 2e8
_SYMBOL_WORK = 5e6
_MOST_GROWTHS = 60
_MOST_BLOCKS = 12
_TRIES = 20
_BASES = (3.0, 4.0, 2.0)
"""By how much a pair of rows that is nearer by one counts more."""

_MOVES = 20_000
_PATIENCE = 30
"""How many rounds without a gain end a search that no time limit ends."""

_SWAPS = 0.3
_HOT, _COLD = 0.6, 0.1
_LOOK = 2e8


class ColumnRules(NamedTuple):
    """What is asked of columns of two symbols: limits of inner products, and of the balance."""

    low: int
    high: int
    sizes: Ints
    limit: int


class NestedPortfolio(DesignRun):
    """The stages of a nested design."""

    _start: Signs
    _fixed: Signs
    _length: int
    _rules: ColumnRules
    _bounds: Ints
    _generator: np.random.Generator

    @property
    def over(self) -> bool:
        """Whether nothing more is to be done: the bounds are met, with all columns."""
        codebook = self.codebook
        long = codebook is not None and codebook.n_columns >= self._length
        return self.over_time or (self.proved and long)

    def check_size(self) -> None:
        """Refuse more classes and columns than prefixes can be counted for, before any work."""
        k, length = self.problem.n_classes, self.problem.n_columns
        if k * k * length > _MAX_SIZE:
            raise TooLargeError(
                f"Nested codebooks are designed for up to {_MAX_SIZE:.0e} classes squared times "
                f"columns, and {k:,} classes with {length:,} columns are {k * k * length:.1e}. "
                "Leave nested out, or ask for fewer columns."
            )

    def run_stages(self, start: Codebook | None) -> None:
        """Run the stages until the best codebook meets the bounds; the start is kept in front."""
        k = self.problem.n_classes
        self._start = np.zeros((k, 0), dtype=np.int8) if start is None else start.matrix
        self._fixed = self._start if start is None else self._symbols(start)
        self._length = self._columns_that_fit()
        self._rules = _rules(self.problem)
        self._generator = np.random.default_rng(self.seed)
        self.theory()
        if self._fixed.shape[1] >= self._length:
            return
        self.quick()
        if not self.over and self._ready():
            self.grow(n_runs=1)
        if not self.over:
            self.construct()
        if not self.over and self._ready():
            self.grow()
        if not self.over and self._ready():
            self.search()

    def _columns_that_fit(self) -> int:
        problem = self.problem
        if problem.n_symbols > 2:
            k, q = problem.n_classes, problem.n_symbols
            return problem.n_columns if k > 20 else min(problem.n_columns, n_partitions(k, q))
        exist = problem.bound_problem.n_admissible(problem.n_columns)
        packing = column_limit(problem.bound_problem)
        return max(1, exist if packing is None else min(exist, int(packing["size"])))

    def _ready(self) -> bool:
        from ecoc._numba import await_compilation
        from ecoc.design._prefixes import compile_kernels

        left = self.left()
        return await_compilation(compile_kernels, None if left is None else 0.7 * left)

    def theory(self) -> None:
        """Bound the distance of every prefix by coding theory."""
        with self.stage("theory") as remarks:
            bound = self.problem.theory()
            prefixes = bound.proof["prefixes"]
            if prefixes[-1]["value"] < 1:
                raise InfeasibleError(
                    f"No codebook of {counted(self.problem.n_columns, 'column')} satisfies the "
                    "request. Ask for more columns or a smaller min_column_distance."
                )
            self.tighten(Certificate.of_bound(bound))
            remarks.append(bound.reason)
            self._bounds = np.zeros(self.problem.n_columns, dtype=np.int64)
            for prefix in prefixes:
                self._bounds[prefix["n_columns"] - 1] = prefix["value"]

    def quick(self) -> None:
        """Have some codebook as soon as possible, for whoever interrupts."""
        problem = self.problem
        with self.stage("random"):
            if problem.n_symbols == 2 and self._fixed.shape[1] == 0:
                from ecoc.design.search import sample_codebook

                self.offer(sample_codebook(problem, random_state=self.seed))

    # ------------------------------------------------------------------ growth

    def grow(self, n_runs: int | None = None) -> None:
        """Add columns one by one, each so that it parts the nearest rows; some times over."""
        with self.stage("growth") as remarks:
            budget = Budget(work=_GROWTH_WORK, deadline=self.deadline)
            done = 0
            while not (self.over or budget.is_spent) and done < (n_runs or _MOST_GROWTHS):
                self._offer_matrix(self._grown(self._fixed, _BASES[done % 3], budget), "growth")
                done += 1
            remarks.append(counted(done, "run"))

    def _grown(self, first: Signs, base: float, budget: Budget) -> Signs | None:
        """Columns added to the first ones until there are enough, or none fits or time is over."""
        from ecoc.design import _prefixes

        k, q = self.problem.n_classes, self.problem.n_symbols
        matrix = np.zeros((k, self._length), dtype=np.int8)
        n_columns = first.shape[1]
        matrix[:, :n_columns] = first
        tries = max(2, min(_TRIES, 8000 // k))
        price = k * k * (4 + tries // 4)
        step = max(1, int(_LOOK // price))
        while n_columns < self._length:
            if budget.is_late:
                return None
            until = min(self._length, n_columns + step)
            reached = _prefixes.grow(
                matrix,
                n_columns,
                until,
                q,
                base,
                tries,
                *self._rules,
                int(self._generator.integers(2**31 - 1)),
            )
            budget.spend(price * (reached - n_columns))
            n_columns = reached
            if n_columns < until:
                break
        return matrix[:, :n_columns]

    # ------------------------------------------------------------ construction

    def construct(self) -> None:
        """Begin with codes that are optimal for shorter lengths, their columns ordered."""
        with self.stage("construction") as remarks:
            if not self._ready():
                remarks.append("not compiled in time")
                return
            if self._fixed.shape[1]:
                # Their columns do not follow on others.
                remarks.append("none applies")
                return
            if self.problem.rho > 1 or self.problem.max_imbalance is not None:
                # Where rules leave few columns, growth ends before there are enough.
                self._offer_searched()
            scores: dict[int, int] = {}
            for length in self._lengths():
                if self.over_time:
                    break
                block = self._block(length)
                if block is None:
                    continue
                value = self._offer_blocks([block])
                if value is not None:
                    scores[length] = value
                remarks.append(f"{length}: {value}")
            if self.problem.n_symbols > 2:
                return
            for length in sorted(scores, key=lambda length: -scores[length])[:3]:
                first = self._block(length)
                if first is not None:
                    self._followed(first)

    def _offer_searched(self) -> None:
        from ecoc.design.search import search_codebook

        left = self.left_for_looking()
        codebook = search_codebook(
            replace(self.problem, nested=False, n_columns=self._length),
            bound=int(self._bounds[-1]),
            n_starts=2,
            time_limit=None if left is None else 0.3 * left,
            work_limit=_CONSTRUCTION_WORK,
            random_state=self.seed,
        ).codebook
        if codebook is not None:
            self._offer_blocks([self._symbols(codebook)])

    def _lengths(self) -> Iterator[int]:
        """The lengths of codes to begin with: all columns, and those of famous codes."""
        k, q = self.problem.n_classes, self.problem.n_symbols
        first, last = self.problem.first_prefix, self._length
        yield last
        order = 4 * -(-k // 4)
        words = q**first
        lengths = (
            *(words // (q - 1) - 1 if q == 2 else (words - 1) // (q - 1), words // q - 1),
            *(words // q, order - 1, order, order + 3, order // 2 - 1, order // 2, 3 * k // 2),
            *(order + order // 2 - 1, q + 1),
        )
        yield from list(dict.fromkeys(n for n in lengths if first < n < last))[:_MOST_BLOCKS]

    def _block(self, length: int) -> Signs | None:
        """A code of a length that meets its bound if one is soon constructed, as symbols."""
        problem = self.problem
        left = self.left_for_looking()
        seconds = None if left is None else 0.1 * left
        target = int(self._bounds[length - 1])
        if problem.n_symbols > 2:
            from ecoc.constructions.symbols import construct_symbols

            code = construct_symbols(
                problem.n_classes,
                length,
                problem.n_symbols,
                target_distance=target,
                random_state=self.seed,
                time_limit=seconds,
                work_limit=_SYMBOL_WORK,
            )
            if code is None:
                return None
            return np.ascontiguousarray(
                normalised_columns(code.matrix.astype(np.int8), problem.n_symbols)
            )
        from ecoc.constructions import construct

        codebook = construct(
            problem.n_classes,
            length,
            min_column_distance=problem.rho,
            separation="one-sided" if problem.separation == "one-sided" else "two-sided",
            random_state=self.seed,
            time_limit=seconds,
            work_limit=_CONSTRUCTION_WORK,
            target_distance=target,
        )
        if codebook is None:
            return None
        signs = codebook.matrix * codebook.matrix[0]
        return np.ascontiguousarray((1 - signs) // 2)

    def _followed(self, first: Signs) -> None:
        """Put a second code behind the first, its rows in another order each time."""
        rest = self._length - first.shape[1]
        if rest <= self.problem.first_prefix or self.over_time:
            return
        for length in (rest, self.problem.n_classes - self.problem.n_classes % 4 - 1):
            if not self.problem.first_prefix < length <= rest:
                continue
            second = self._block(length)
            if second is None:
                continue
            for _ in range(4):
                if self.over:
                    return
                rows = self._generator.permutation(len(second))
                turned = second[rows] ^ second[rows[0]]
                self._offer_blocks([first, np.ascontiguousarray(turned)])

    def _offer_blocks(self, blocks: list[Signs]) -> int | None:
        """Order the columns of each block behind those before, and grow the rest."""
        from ecoc.design import _prefixes

        budget = Budget(deadline=self.deadline)
        best: int | None = None
        for base in (2.0, 4.0):
            matrix = np.zeros((self.problem.n_classes, 0), dtype=np.int8)
            for block in blocks:
                joined = np.ascontiguousarray(np.column_stack([matrix, block]))
                if self._late_for(joined):
                    return best
                matrix = _prefixes.order_columns(joined, matrix.shape[1], base)
            grown = self._grown(matrix[:, : self._length], _BASES[0], budget)
            value = self._offer_matrix(grown, "ordered-construction")
            if value is not None and (best is None or value > best):
                best = value
        return best

    def _late_for(self, matrix: Signs) -> bool:
        """Whether ordering these columns would take longer than there is time."""
        left = self.left_for_looking()
        k, length = matrix.shape
        return left is not None and 1e-9 * k * k * length * length > left

    # ------------------------------------------------------------------ search

    def search(self) -> None:
        """Anneal over all prefixes, asking for one more wherever a bound is not met."""
        with self.stage("search") as remarks:
            work = _SEARCH_WORK if self.time_limit is None else math.inf
            budget = Budget(work=work, deadline=self.deadline)
            rounds = since = 0
            while not (self.over or budget.is_spent) and self.codebook is not None:
                if self.time_limit is None and since >= _PATIENCE:
                    break
                if self.codebook.n_columns == self._fixed.shape[1]:
                    break
                before = self.objective
                fresh = self._grown(self._fixed, _BASES[1], budget) if rounds % 3 == 2 else None
                self._anneal(self._symbols(self.codebook) if fresh is None else fresh, budget)
                rounds += 1
                since = since + 1 if self.objective == before else 0
            remarks.append(counted(rounds, "round"))

    def _anneal(self, matrix: Signs, budget: Budget) -> None:
        from ecoc.design import _prefixes

        matrix = np.ascontiguousarray(matrix)
        k, length = matrix.shape
        n_fixed = self._fixed.shape[1]
        reached = _prefixes.prefix_distances(matrix)
        goals = np.minimum(self._bounds[:length], reached + 1)
        goals[: self.problem.first_prefix - 1] = 0
        price = k * length
        n_moves = int(min(_MOVES, max(200, _LOOK // price)))
        heat = _HOT * float(self._generator.uniform(0.5, 2.0))
        best = matrix.copy()
        _prefixes.anneal_prefixes(
            matrix,
            n_fixed,
            self.problem.n_symbols,
            goals,
            *self._rules,
            heat,
            _COLD,
            n_moves,
            _SWAPS,
            int(self._generator.integers(2**31 - 1)),
            best,
        )
        budget.spend(price * n_moves)
        self._offer_matrix(best, "annealing")

    # ------------------------------------------------------------------ offers

    def _symbols(self, codebook: Codebook) -> Signs:
        q = self.problem.n_symbols
        matrix = normalised_columns(codebook.matrix, q)
        return np.ascontiguousarray((1 - matrix) // 2 if q == 2 else matrix)

    def _offer_matrix(self, matrix: Signs | None, method: str) -> int | None:
        """Offer a matrix of symbols; its objective, or None if it is no solution."""
        if matrix is None or matrix.shape[1] == 0:
            return None
        q = self.problem.n_symbols
        entries = (1 - 2 * matrix if q == 2 else matrix).astype(np.int8)
        # Trained columns know which side they call +1.
        entries[:, : self._start.shape[1]] = self._start
        with suppress(InvalidCodebookError):
            codebook = Codebook(
                entries,
                n_symbols=q,
                name="designed",
                provenance=Provenance(method, {"nested": True}, seed=self.seed),
            )
            if self.problem.violations(codebook):
                return None
            self.offer(codebook)
            value = int(self.problem.objective_of(codebook))
            if value == self.objective and self._is_longer(codebook):
                self.codebook = codebook
            return value
        return None

    def _is_longer(self, codebook: Codebook) -> bool:
        """Whether a codebook has more of the columns that are asked for than the best one."""
        return self.codebook is None or codebook.n_columns > self.codebook.n_columns


def _rules(problem: DesignProblem) -> ColumnRules:
    k = problem.n_classes
    least, most = problem.separation_limits
    sizes = np.array(problem.class_sizes or (1,) * k, dtype=np.int64)
    limit = int(sizes.sum()) - 1
    if problem.max_imbalance is not None:
        limit = min(limit, balance_limit(problem.max_imbalance, problem.class_sizes, k))
    # Columns have the first class on one side, so that none is a complement.
    return ColumnRules(k - 2 * most, k - 2 * least, sizes, limit)
