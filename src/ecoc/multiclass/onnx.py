"""Columns and decoders as operators of ONNX, written in the terms of their own formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc._checks import require
from ecoc._typing import Floats
from ecoc.errors import UnsupportedError
from ecoc.multiclass.decoders import (
    AttenuatedEuclidean,
    Coupling,
    Decoder,
    Euclidean,
    Hamming,
    Learned,
    LogLikelihood,
    LossBased,
    LossWeighted,
    Soft,
    Votes,
)
from ecoc.multiclass.decoders.base import symbol_indicator
from ecoc.multiclass.decoders.probabilities import (
    _FLOOR,
    _LEAST,
    _PRIOR,
    _SHARPNESS,
    _SMALLEST,
    _SMOOTHING,
    _SYMBOL_TOLERANCE,
)

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

__all__ = ["OPSETS", "Answers", "OperatorGraph", "Value", "decoded", "softplus"]

OPSETS = {"": 18, "ai.onnx.ml": 5}
"""The operators that are used: 5 has trees in double precision."""

_IR_VERSION = 10

_MAX_STEPS, _TOLERANCE = 1000, 1e-9
"""What coupling has by default."""

_Operand: TypeAlias = "Value | npt.NDArray[Any] | float"


@dataclass(frozen=True, eq=False)
class Value:
    """A value in a graph, with the arithmetic of arrays.

    Attributes
    ----------
    graph : OperatorGraph
        The graph.
    name : str
        Its name there.
    """

    graph: OperatorGraph
    name: str

    # Arrays then leave an operation to the value beside them.
    __array_ufunc__: ClassVar[None] = None

    def __add__(self, other: _Operand) -> Value:
        return self.graph.op("Add", self, other)

    def __radd__(self, other: _Operand) -> Value:
        return self.graph.op("Add", other, self)

    def __sub__(self, other: _Operand) -> Value:
        return self.graph.op("Sub", self, other)

    def __rsub__(self, other: _Operand) -> Value:
        return self.graph.op("Sub", other, self)

    def __mul__(self, other: _Operand) -> Value:
        return self.graph.op("Mul", self, other)

    def __rmul__(self, other: _Operand) -> Value:
        return self.graph.op("Mul", other, self)

    def __truediv__(self, other: _Operand) -> Value:
        return self.graph.op("Div", self, other)

    def __rtruediv__(self, other: _Operand) -> Value:
        return self.graph.op("Div", other, self)

    def __matmul__(self, other: _Operand) -> Value:
        return self.graph.op("MatMul", self, other)

    def __neg__(self) -> Value:
        return self.graph.op("Neg", self)

    def above(self, other: _Operand) -> Value:
        """Whether each is greater."""
        return self.graph.op("Greater", self, other)

    def maximum(self, other: _Operand) -> Value:
        """The larger of each two."""
        return self.graph.op("Max", self, other)

    def minimum(self, other: _Operand) -> Value:
        """The smaller of each two."""
        return self.graph.op("Min", self, other)

    def sum(self, axis: int = 1) -> Value:
        """Sums along an axis, which stays."""
        return self.graph.op("ReduceSum", self, np.array([axis]))

    def max(self, axis: int = 1) -> Value:
        """The largest along an axis, which stays."""
        return self.graph.op("ReduceMax", self, np.array([axis]))

    def reshape(self, *shape: int) -> Value:
        """The same values in another shape; 0 keeps a length, -1 is what is left."""
        return self.graph.op("Reshape", self, np.array(shape))

    def cast(self, dtype: type) -> Value:
        """The same values of another type."""
        return self.graph.op("Cast", self, to=self.graph.type_of(np.dtype(dtype)))


class OperatorGraph:
    """A graph of operators that is being written.

    Examples
    --------
    >>> graph = OperatorGraph()
    >>> x = graph.input("x", np.float64, ["rows", 2])
    >>> model = graph.model({"y": (2.0 * x + 1.0, np.float64, ["rows", 2])})
    >>> [node.op_type for node in model.graph.node]
    ['Mul', 'Add', 'Identity']
    """

    def __init__(self) -> None:
        self._onnx = require("onnx", extra="onnx")
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        self._inputs: list[Any] = []
        self._count = 0

    def type_of(self, dtype: npt.DTypeLike) -> int:
        """The number that a type of NumPy has in ONNX."""
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def input(
        self, name: str, dtype: npt.DTypeLike, shape: Sequence[int | str], default: Any = None
    ) -> Value:
        """An input of the graph, with what it is where nobody gives it."""
        self._inputs.append(
            self._onnx.helper.make_tensor_value_info(name, self.type_of(dtype), shape)
        )
        if default is not None:
            self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(default), name))
        return Value(self, name)

    def constant(self, value: npt.ArrayLike) -> Value:
        """Numbers or texts that are part of the graph; numbers with a fraction are doubles."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        name = self._name("constant")
        self._constants.append(self._onnx.numpy_helper.from_array(array.copy("C"), name))
        return Value(self, name)

    def op(self, kind: str, *operands: _Operand, domain: str = "", **attributes: Any) -> Value:
        """The result of an operator."""
        names = [
            each.name if isinstance(each, Value) else self.constant(each).name for each in operands
        ]
        result = self._name(kind)
        self._nodes.append(
            self._onnx.helper.make_node(kind, names, [result], domain=domain, **attributes)
        )
        return Value(self, result)

    def where(self, condition: Value, first: _Operand, second: _Operand) -> Value:
        """The first where a condition holds, and else the second."""
        return self.op("Where", condition, first, second)

    def concat(self, values: Sequence[Value], axis: int = 1) -> Value:
        """Values side by side."""
        return values[0] if len(values) == 1 else self.op("Concat", *values, axis=axis)

    def repeat(
        self,
        step: Callable[..., Sequence[Value]],
        start: Sequence[Value],
        dtypes: Sequence[npt.DTypeLike],
        most: int,
    ) -> list[Value]:
        """Values after a step was repeated for as long as it asks for, but at most so often.

        The step returns whether to go on, and the next values, of the same types.
        """
        helper = self._onnx.helper
        names = [self._name("state") for _ in start]
        outside, self._nodes = self._nodes, []
        results = step(*(Value(self, name) for name in names))
        inside, self._nodes = self._nodes, outside
        turn, go_on = self._name("turn"), self._name("go_on")
        info = helper.make_tensor_value_info
        types = [self.type_of(dtype) for dtype in (bool, *dtypes)]
        body = helper.make_graph(
            inside,
            self._name("body"),
            [
                info(turn, self.type_of(np.int64), []),
                info(go_on, types[0], []),
                *(info(name, kind, None) for name, kind in zip(names, types[1:], strict=True)),
            ],
            [info(each.name, kind, None) for each, kind in zip(results, types, strict=True)],
        )
        after = [self._name("after") for _ in start]
        before = [self.constant(np.array(most)).name, self.constant(np.array(True)).name]
        self._nodes.append(
            helper.make_node("Loop", [*before, *(each.name for each in start)], after, body=body)
        )
        return [Value(self, name) for name in after]

    def inline(self, model: ModelProto, given: Value) -> list[Value]:
        """The outputs of another model of one input."""
        from onnx import compose, inliner

        part = compose.add_prefix(
            inliner.inline_local_functions(model), f"{self._name('part')}_"
        ).graph
        self._nodes.append(
            self._onnx.helper.make_node("Identity", [given.name], [part.input[0].name])
        )
        self._nodes.extend(part.node)
        self._constants.extend(part.initializer)
        return [Value(self, output.name) for output in part.output]

    def model(
        self,
        outputs: Mapping[str, tuple[Value, npt.DTypeLike, Sequence[int | str]]],
        notes: Mapping[str, str] | None = None,
    ) -> ModelProto:
        """The whole as a model, checked.

        Parameters
        ----------
        outputs : mapping
            For each output its value, type and shape.
        notes : mapping of str to str
            What the file says about the model.
        """
        helper = self._onnx.helper
        for name, (value, _, _) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [value.name], [name]))
        infos = [
            helper.make_tensor_value_info(name, self.type_of(dtype), shape)
            for name, (_, dtype, shape) in outputs.items()
        ]
        graph = helper.make_graph(self._nodes, "ecoc", self._inputs, infos, self._constants)
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="ecoc"
        )
        helper.set_model_props(model, dict(notes or {}))
        self._onnx.checker.check_model(model, full_check=True)
        return model  # type: ignore[no-any-return]

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"


# -------------------------------------------------------------------- decoders


@dataclass(frozen=True, eq=False)
class Answers:
    """What the columns say about the samples, in a graph.

    Attributes
    ----------
    scores : Value
        Signed scores (n_samples x n_columns), or probabilities of symbols with a third axis.
    matrix : array of shape (n_classes, n_columns)
        The codebook.
    n_symbols : int
        The number of its symbols.
    present : Value, optional
        1 for columns that are there, and 0 for others, of shape (1 or n_samples, n_columns).
        Scores of columns that are not there must be finite too.
    """

    scores: Value
    matrix: npt.NDArray[np.int8]
    n_symbols: int = 2
    present: Value | None = None

    @property
    def graph(self) -> OperatorGraph:
        """The graph."""
        return self.scores.graph

    @property
    def flat(self) -> Value:
        """The scores with one axis for columns and symbols."""
        return self.scores if self.n_symbols == 2 else self.scores.reshape(0, -1)

    @property
    def sides(self) -> tuple[Floats, Floats]:
        """For each class, 1 for the columns that have it on their +1 side, and on the other.

        With more symbols the first has a place for each column and symbol, and the second is 0.
        """
        if self.n_symbols > 2:
            chosen = symbol_indicator(self.matrix.astype(np.float64), self.n_symbols)
            return chosen, np.zeros_like(chosen)
        return (self.matrix > 0).astype(np.float64), (self.matrix < 0).astype(np.float64)

    @property
    def signs(self) -> Floats:
        """The entries of a codebook of two symbols."""
        return self.matrix.astype(np.float64)

    @property
    def used(self) -> Floats:
        """1 where a column uses a class, of shape (n_classes, n_columns)."""
        return np.ones(self.matrix.shape) if self.n_symbols > 2 else np.abs(self.signs)

    def sums(self, values: Value, weights: Floats) -> Value:
        """For each class the weighted sum of values over the columns that are there."""
        return self.kept(values) @ weights.T

    def kept(self, values: Value) -> Value:
        """Values, 0 where a column is not there; they are flat if there are more symbols."""
        return values if self.present is None else values * self.spread

    @property
    def spread(self) -> Value:
        """Which columns are there, for each of their symbols."""
        if self.present is None:
            return self.graph.constant(np.ones((1, self.sides[0].shape[1])))
        if self.n_symbols == 2:
            return self.present
        ones = np.ones((1, 1, self.n_symbols))
        return (self.present.reshape(0, -1, 1) * ones).reshape(0, -1)

    def count(self, weights: Floats) -> Value:
        """For each class the sum of weights over the columns that are there."""
        if self.present is None:
            return self.graph.constant(weights.sum(axis=1)[None])
        return self.present @ weights.T

    @property
    def n_columns(self) -> Value:
        """How many columns are there."""
        return self.count(np.ones((1, self.matrix.shape[1])))


def decoded(decoder: Decoder, answers: Answers) -> Value:
    """The class scores of a decoder, of shape (n_samples, n_classes).

    Raises
    ------
    UnsupportedError
        If it has no form in operators; says which have.

    Examples
    --------
    >>> graph = OperatorGraph()
    >>> scores = graph.input("scores", np.float64, ["rows", 2])
    >>> matrix = np.array([[1, 1], [1, -1], [-1, 1]])
    >>> best = graph.op("ArgMax", decoded(Hamming(), Answers(scores, matrix)), axis=1)
    >>> model = graph.model({"class": (best, np.int64, ["rows", 1])})
    >>> sorted({node.op_type for node in model.graph.node})
    ['Abs', 'Add', 'ArgMax', 'Div', 'Identity', 'MatMul', 'Mul', 'Sign', 'Sub']
    """
    if type(decoder) not in _DECODERS:
        names = ", ".join(kind.__name__ for kind in _DECODERS)
        raise UnsupportedError(
            f"{type(decoder).__name__} decoding has no form in ONNX operators. These have: {names}."
        )
    return _DECODERS[type(decoder)](decoder, answers)


def _hamming(_: Any, answers: Answers) -> Value:
    agreement = _agreement(answers)
    lost = (answers.n_columns - agreement) / (2.0 if answers.n_symbols == 2 else 1.0)
    return _squeezed(_signed_sums(answers)) - lost


def _votes(_: Any, answers: Answers) -> Value:
    columns = answers.count(answers.used).maximum(1.0)
    shares = _agreement(answers) / columns
    if answers.n_symbols == 2:
        shares = shares / 2.0 + 0.5
    length = answers.n_columns
    return shares + _squeezed(_signed_sums(answers) / columns) / (length * length)


def _agreement(answers: Answers) -> Value:
    """The columns on the side of each class less those on the other, or those with its symbol."""
    graph = answers.graph
    if answers.n_symbols == 2:
        return answers.sums(graph.op("Sign", answers.scores), answers.signs)
    first = graph.op("ArgMax", answers.scores, axis=2)
    said = graph.op("Equal", first, np.arange(answers.n_symbols)).cast(np.float64)
    return answers.sums(said.reshape(0, -1), answers.sides[0])


def _signed_sums(answers: Answers) -> Value:
    """The sum of the scores on the side of each class."""
    positive, negative = answers.sides
    return answers.sums(answers.flat, positive - negative)


def _squeezed(sums: Value) -> Value:
    return sums / (5.0 * (sums.graph.op("Abs", sums) + 1.0))


def _euclidean(decoder: Any, answers: Answers) -> Value:
    squares = answers.flat * answers.flat
    if type(decoder) is Euclidean or answers.n_symbols > 2:
        total = answers.kept(squares).sum() + answers.count(answers.used)
    else:
        total = answers.sums(squares, answers.used) + answers.count(answers.used)
    distances = (total - 2.0 * _signed_sums(answers)).maximum(0.0)
    return -answers.graph.op("Sqrt", distances)


def _loss_based(decoder: Any, answers: Answers) -> Value:
    used = answers.count(answers.used)
    positive, negative = answers.sides
    total = _losses(decoder.loss, answers, positive, negative)
    if decoder.normalise:
        return -answers.graph.where(used.above(0.0), total / used.maximum(1.0), 0.5)
    return -(total + (answers.n_columns - used) / 2.0)


def _loss_weighted(decoder: Any, answers: Answers) -> Value:
    positive, negative = answers.sides
    q = answers.matrix.shape[1] and positive.shape[1] // answers.matrix.shape[1]

    def mean(weights: Floats) -> tuple[Value, Value]:
        each = np.repeat(weights, q, axis=1)
        sums = answers.count(weights)
        total = _losses(decoder.loss, answers, positive * each, negative * each)
        return sums, total / sums.maximum(np.finfo(float).tiny)

    sums, trusted = mean(decoder.weights * answers.used)
    # A class about which no column was ever right is judged by all its columns alike.
    return -answers.graph.where(sums.above(0.0), trusted, mean(answers.used)[1])


def _losses(loss: str, answers: Answers, positive: Floats, negative: Floats) -> Value:
    """The weighted sums of the losses on the side of each class."""
    function, scale = _LOSSES[loss]
    # Weights take the scale: as a factor of its own onnxruntime would round it to single
    # precision when it makes one operator of it and the product.
    positive, negative = scale * positive, scale * negative
    if answers.n_symbols > 2:
        return answers.sums(function(2.0 * answers.flat - 1.0), positive)
    right, wrong = function(answers.scores), function(-answers.scores)
    if loss != "exponential" and (positive + negative == scale).all():
        # As the decoder itself sums, so that equal scores stay equal.
        return answers.sums(right - wrong, positive) + answers.sums(wrong, scale * answers.used)
    return answers.sums(right, positive) + answers.sums(wrong, negative)


def softplus(z: Value) -> Value:
    """The logarithm of 1 + exp(z)."""
    small = z.graph.op("Exp", -z.graph.op("Abs", z))
    return z.maximum(0.0) + z.graph.op("Log", small + 1.0)


_LOSSES: dict[str, tuple[Callable[[Value], Value], float]] = {
    "hinge": (lambda z: (1.0 - z).maximum(0.0), 0.5),
    "exponential": (lambda z: z.graph.op("Exp", (-z).maximum(-300.0).minimum(300.0)), 0.5),
    "logistic": (lambda z: softplus(-z), 0.5 / np.log(2)),
    "binary-deviance": (lambda z: softplus(-2.0 * z), 0.5 / np.log(2)),
    "squared": (lambda z: (1.0 - z) * (1.0 - z), 0.5),
    "linear": (lambda z: 1.0 - z, 0.5),
}
"""The losses of :data:`ecoc.multiclass.decoders.LOSSES`, and what they are multiplied by."""


def _soft(decoder: Any, answers: Answers) -> Value:
    used = answers.count(answers.used)
    if answers.n_symbols > 2:
        sums = _signed_sums(answers)
    else:
        centred = _probabilities(decoder, answers) - 0.5
        sums = answers.sums(centred, answers.signs) + used / 2.0
    if not decoder.normalise:
        return sums
    return answers.graph.where(used.above(0.0), sums / used.maximum(1.0), 0.5)


def _log_likelihood(decoder: Any, answers: Answers) -> Value:
    graph, (positive, negative) = answers.graph, answers.sides
    r = _probabilities(decoder, answers)
    logs = graph.op("Log", _smoothed(r, answers.n_symbols))
    if answers.n_symbols > 2:
        return answers.sums(logs, positive)
    others = graph.op("Log", _smoothed(1.0 - r, 2))
    sums = answers.sums(logs, positive) + answers.sums(others, negative)
    return sums + answers.count(np.log(0.5) * (1.0 - answers.used))


def _probabilities(decoder: Any, answers: Answers) -> Value:
    """The probabilities of the +1 sides, or those of symbols, flat."""
    if answers.n_symbols > 2:
        return answers.flat
    halves = answers.scores / 2.0
    centred = answers.graph.op("Tanh", halves) / 2.0 if decoder.logistic else halves
    return centred + 0.5


def _smoothed(probabilities: Value, n_symbols: int) -> Value:
    return probabilities * (1 - _SMOOTHING) + _SMOOTHING / n_symbols


def _learned(decoder: Any, answers: Answers) -> Value:
    graph = answers.graph
    if answers.n_symbols == 2:
        values = graph.op("Tanh", answers.scores / 2.0)
    else:
        smoothed = _smoothed(answers.flat, answers.n_symbols)
        values = graph.op("Log", float(answers.n_symbols) * smoothed)
    coefficients = decoder.coefficients.reshape(len(decoder.coefficients), -1)
    intercepts: Floats = decoder.intercepts
    return answers.sums(values, coefficients) + intercepts


# -------------------------------------------------------------------- coupling


@dataclass(frozen=True, eq=False)
class _CouplingModel:
    """What :mod:`ecoc.multiclass.decoders.probabilities` maximises for columns of two sides."""

    r: Value
    positive: Floats
    negative: Floats
    weights: Value
    ternary: bool

    def loss(self, p: Value) -> Value:
        """The negative log-likelihood of each sample."""
        log = p.graph.op
        plus, minus = self._side(p, self.positive), self._side(p, self.negative)
        terms = self.r * log("Log", plus) + (1.0 - self.r) * log("Log", minus)
        if self.ternary:
            terms = terms - log("Log", plus + minus)
        return -(terms * self.weights).sum()

    def gains(self, p: Value) -> Value:
        """What a step multiplies each probability by."""
        plus, weighted = self._side(p, self.positive), self.weights * self.r
        minus = self._side(p, self.negative)
        gain = (weighted / plus) @ self.positive.T
        gain = gain + ((self.weights - weighted) / minus) @ self.negative.T
        if not self.ternary:
            return gain / self.weights.sum()
        uses = (self.weights / (plus + minus)) @ (self.positive + self.negative).T
        return gain / uses.maximum(np.finfo(float).tiny)

    def step(self, p: Value, gain: Value | None = None) -> Value:
        """Probabilities after a step."""
        return _normalised(p * (self.gains(p) if gain is None else gain)).maximum(_LEAST)

    def leap(self, p: Value, first: Value) -> Value:
        """Probabilities after a step from the first, or a leap where that is better."""
        graph = p.graph
        second = self.step(first)
        best, least = second, self.loss(second)
        far = _leap(*(graph.op("Log", each) for each in (p, first, second)))
        leaps = (
            _leap(p, first, second).maximum(second / 10.0),
            graph.op("Exp", far - far.max()),
        )
        for leap in leaps:
            tried = self.step(_normalised(leap).maximum(_LEAST))
            loss = self.loss(tried)
            better = least.above(loss)
            best = graph.where(better, tried, best)
            least = graph.where(better, loss, least)
        return best

    @staticmethod
    def _side(p: Value, classes: Floats) -> Value:
        return (p @ classes).maximum(np.finfo(float).tiny)


def _coupling(decoder: Any, answers: Answers) -> Value:
    r = _probabilities(decoder, answers)
    if answers.n_symbols > 2:
        return _coupled_symbols(_smoothed(r, answers.n_symbols), answers)
    graph, (positive, negative) = answers.graph, answers.sides
    r = r.maximum(_SMALLEST).minimum(1 - _SMALLEST)
    weights = r * 0.0 + answers.spread
    ternary = bool((answers.matrix == 0).any())

    def turn(result: Value, active: Value) -> Sequence[Value]:
        # Samples leave as they converge: most do early, and the last few are cheap.
        p, mine, counted = (graph.op("Gather", each, active) for each in (result, r, weights))
        model = _CouplingModel(mine, positive, negative, counted, ternary)
        gain = model.gains(p)
        better = model.leap(p, model.step(p, gain))
        moved = _gap(p, gain).above(_TOLERANCE)
        left, any_left = _left(active, moved)
        return any_left, graph.op("ScatterND", result, active.reshape(-1, 1), better), left

    start, everybody = _start(r, len(answers.matrix))
    dtypes = (np.float64, np.int64)
    p, _ = graph.repeat(turn, [start, everybody], dtypes, -(-_MAX_STEPS // 4))
    return _normalised(p)


def _coupled_symbols(r: Value, answers: Answers) -> Value:
    """The steps and leaps of :mod:`ecoc.multiclass.decoders._coupling`, one for one."""
    from ecoc.multiclass.decoders._coupling import _LONGEST_LEAP

    graph, groups, k = answers.graph, answers.sides[0], len(answers.matrix)
    r = r.maximum(_SMALLEST).minimum(1 - _SMALLEST)
    # A symbol that no class has says nothing about classes.
    used = np.flatnonzero(groups.any(axis=0))
    said, weights = (graph.op("Gather", each, used, axis=1) for each in (r, answers.spread))
    said, groups = said * weights, groups[:, used]
    total = said.sum() + _PRIOR

    def gains(p: Value, heard: Value, whole: Value) -> Value:
        shares = (p @ groups).maximum(np.finfo(float).tiny)
        return ((heard / shares) @ groups.T + (_PRIOR / k) / p) / whole

    def turn(*state: Value) -> Sequence[Value]:
        active = state[-1]
        p, reach, before, steps, heard, whole = (
            graph.op("Gather", each, active) for each in (*state[:-1], said, total)
        )
        gain = gains(p, heard, whole)
        gap = _gap(p, gain)
        shorter = (reach / 4.0).maximum(1.0)
        longer = (reach * 2.0).minimum(_LONGEST_LEAP)
        reach = graph.where(gap.above(before), shorter, longer)
        reach = graph.where((2.0 * steps).above(float(_MAX_STEPS)), reach * 0.0 + 1.0, reach)
        first = _normalised(p * gain).maximum(_LEAST)
        second = _normalised(first * gains(first, heard, whole)).maximum(_LEAST)
        once = first - p
        twice = second - first - once
        change, bend = ((each * each / first).sum() for each in (once, twice))
        length = graph.op("Sqrt", change / bend.maximum(1e-300)).maximum(1.0).minimum(reach)
        far = p + length * (2.0 * once + length * twice)
        far = _normalised(far.maximum(second / 10.0)).maximum(_LEAST)
        moved = graph.op(
            "And", gap.above(_SYMBOL_TOLERANCE), (float(_MAX_STEPS) - steps).above(0.0)
        )
        after = graph.where(moved, far, _normalised((p * gain).maximum(_LEAST)))
        left, any_left = _left(active, moved)
        places = active.reshape(-1, 1)
        new = [
            graph.op("ScatterND", old, places, each)
            for old, each in zip(state[:-1], (after, reach, gap, steps + 2.0), strict=True)
        ]
        return any_left, *new, left

    # As there, the first step is from equal probabilities and without a leap.
    equal, everybody = _start(r, k)
    ones = total * 0.0 + 1.0
    start = _normalised(equal * gains(equal, said, total)).maximum(_LEAST)
    state = [start, ones * _LONGEST_LEAP, ones * 1e300, ones * 0.0, everybody]
    dtypes = (*[np.float64] * 4, np.int64)
    p = graph.repeat(turn, state, dtypes, _MAX_STEPS // 2 + 1)[0]
    shares = (p @ groups).maximum(np.finfo(float).tiny)
    ratios = graph.op("Gather", r, used, axis=1) / shares
    contradiction = (said * graph.op("Log", ratios)).sum().maximum(0.0) / answers.n_columns
    power = _SHARPNESS * graph.op("Exp", -contradiction)
    surer = _normalised(graph.op("Pow", p / p.max(), power))
    return (1 - _FLOOR) * surer + _FLOOR / k


def _start(r: Value, n_classes: int) -> tuple[Value, Value]:
    """Equal probabilities of classes, a row for each sample, and the numbers of all samples."""
    ones = r.max() * 0.0 + 1.0
    everybody = r.graph.op("NonZero", ones.reshape(-1).above(0.5)).reshape(-1)
    return ones @ np.full((1, n_classes), 1 / n_classes), everybody


def _gap(p: Value, gain: Value) -> Value:
    """By how much a probability wants to grow, or one that counts to shrink."""
    change = (p * p.graph.op("Abs", gain - 1.0)).max()
    return (gain.max() - 1.0).maximum(change)


def _left(active: Value, moved: Value) -> tuple[Value, Value]:
    """The samples that have not converged, and whether there are any."""
    left = active.graph.op("Compress", active, moved.reshape(-1), axis=0)
    return left, active.graph.op("Size", left).above(np.array(0))


def _normalised(values: Value) -> Value:
    """Rows divided by their sums, which are positive."""
    return values / values.sum()


def _leap(start: Value, first: Value, second: Value) -> Value:
    change = first - start
    bend = second - first - change
    size, turn = (start.graph.op("Sqrt", (each * each).sum()) for each in (change, bend))
    length = (size / turn.maximum(np.finfo(float).tiny)).maximum(1.0).minimum(1e3)
    return start + 2.0 * length * change + length * length * bend


_DECODERS: dict[type[Decoder], Callable[[Any, Answers], Value]] = {
    Hamming: _hamming,
    Votes: _votes,
    Euclidean: _euclidean,
    AttenuatedEuclidean: _euclidean,
    LossBased: _loss_based,
    LossWeighted: _loss_weighted,
    Learned: _learned,
    Soft: _soft,
    LogLikelihood: _log_likelihood,
    Coupling: _coupling,
}
