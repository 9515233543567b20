"""What an evaluation found and what a certification proved, as values that store themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import counted
from ecoc._latex import booktabs, escaped
from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.multiclass.diagnostics.plotting import figure_of, new_axes
from ecoc.robustness.certificates.bounds import Smoothing
from ecoc.robustness.examples import AdversarialExamples
from ecoc.robustness.threat import Box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Certification", "Leaderboard", "RobustnessResult"]


@dataclass(frozen=True, eq=False)
class Certification:
    """What was proved about the predictions for some samples.

    Attributes
    ----------
    epsilons : tuple of float
        The radii, increasing.
    certified : array of bool of shape (n_epsilons, n_samples)
        Whether the prediction for a sample stands within a radius. Never True where it is
        False for a smaller radius.
    predictions : array of shape (n_samples,)
        The labels that are certified, those at the samples themselves.
    correct : array of bool of shape (n_samples,), optional
        Whether they are the true ones, if these were given.
    abstained : array of bool of shape (n_samples,)
        Where not even the prediction at the sample itself is certain: all-bits decoding has
        no codeword there, votes under noise are too close to tell, classes are tied, or the
        model rejects the sample.
    norm, box
        The threat: changes of this norm, within this box.
    method, decoding : str
        What bounded the columns, and how they are decoded.
    guarantee : str
        What exactly is guaranteed.
    smoothing : Smoothing, optional
        Noise, number of draws and the probability of error, for randomised smoothing.
    """

    epsilons: tuple[float, ...]
    certified: npt.NDArray[np.bool_]
    predictions: npt.NDArray[Any]
    correct: npt.NDArray[np.bool_] | None
    abstained: npt.NDArray[np.bool_]
    norm: str
    box: Box
    method: str
    decoding: str
    guarantee: str
    smoothing: Smoothing | None = None

    @property
    def certified_share(self) -> tuple[float, ...]:
        """For each radius, the share of samples whose prediction stands, right or wrong."""
        return tuple(float(share) for share in self.certified.mean(axis=1))

    @property
    def certified_accuracy(self) -> tuple[float, ...] | None:
        """For each radius, the share of samples whose prediction is right and stands.

        A lower bound on the accuracy under any attack of that radius, for a model that rejects
        on the share of answers that are right or rejections; None without labels.
        """
        if self.correct is None:
            return None
        return tuple(float(share) for share in (self.certified & self.correct).mean(axis=1))

    @property
    def clean_accuracy(self) -> float | None:
        """The accuracy without attack, abstentions counting as errors; None without labels."""
        if self.correct is None:
            return None
        return float((self.correct & ~self.abstained).mean())

    @property
    def radii(self) -> npt.NDArray[np.float64]:
        """The largest of the radii that each sample is certified for, 0 if there is none.

        What :func:`ecoc.robustness.evaluate_robustness` takes as ``certified_radii``.
        """
        values = np.array(self.epsilons)[:, None]
        radii: npt.NDArray[np.float64] = np.where(self.certified, values, 0.0).max(axis=0)
        return radii

    @property
    def is_probabilistic(self) -> bool:
        """Whether the guarantee holds with a stated probability instead of always."""
        return self.smoothing is not None

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data that JSON can hold."""
        return {
            "version": 1,
            "epsilons": list(self.epsilons),
            "certified": self.certified.tolist(),
            "predictions": self.predictions.tolist(),
            "correct": None if self.correct is None else self.correct.tolist(),
            "abstained": self.abstained.tolist(),
            "certified_share": list(self.certified_share),
            "certified_accuracy": (
                None if self.certified_accuracy is None else list(self.certified_accuracy)
            ),
            "clean_accuracy": self.clean_accuracy,
            "norm": self.norm,
            "box": None if self.box is None else list(self.box),
            "method": self.method,
            "decoding": self.decoding,
            "guarantee": self.guarantee,
            "smoothing": None if self.smoothing is None else asdict(self.smoothing),
        }

    def to_latex(self) -> str:
        """The table that is printed, for LaTeX with the package booktabs."""
        accuracy = self.certified_accuracy
        title = "certified share" if accuracy is None else "certified accuracy"
        columns = {title: self.certified_share if accuracy is None else accuracy}
        return _latex_by_radius(self.epsilons, self.clean_accuracy, columns)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the certified accuracy, or share, over the radius.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a figure of its own by default.
        """
        ax = new_axes(ax, 5.5)
        accuracy = self.certified_accuracy
        values = self.certified_share if accuracy is None else accuracy
        label = f"{self.method}, {self.decoding} decoding"
        if self.smoothing is not None:
            label += f" (probability {1 - self.smoothing.alpha:g} per sample)"
        ax.plot(self.epsilons, [100 * value for value in values], "^--", label=label)
        if self.clean_accuracy is not None:
            ax.axhline(100 * self.clean_accuracy, color="0.8", zorder=0, label="without attack")
        what = "certified share" if accuracy is None else "certified accuracy"
        ax.set(xlabel=_radius_label(self.norm), ylabel=f"{what} (%)", ylim=(-2, 102))
        ax.legend(fontsize="small")
        return figure_of(ax)

    def __str__(self) -> str:
        clean = "" if self.clean_accuracy is None else f", clean {100 * self.clean_accuracy:.1f} %"
        accuracy = self.certified_accuracy
        title = "certified share" if accuracy is None else "certified accuracy"
        values = self.certified_share if accuracy is None else accuracy
        lines = [
            f"{self.method} bounds, {self.decoding} decoding, {self.norm}{clean}",
            f"epsilon  {title}",
        ]
        for epsilon, value in zip(self.epsilons, values, strict=True):
            cell = f"{100 * value:.1f} %"
            lines.append(f"{epsilon:>7g}  {cell:>{len(title)}}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"<Certification of {counted(len(self.predictions), 'sample')}: {self.method}, "
            f"{self.decoding} decoding, {self.norm}, epsilons {list(self.epsilons)}>"
        )


def _latex_by_radius(
    epsilons: Sequence[float], clean: float | None, columns: Mapping[str, Sequence[float | None]]
) -> str:
    """A line for each radius, and one for radius 0, where every column has the clean accuracy."""
    lines = [[r"$\epsilon$", *map(escaped, columns)]]
    if clean is not None:
        lines.append(["0", *([escaped(f"{100 * clean:.1f} %")] * len(columns))])
    for i, epsilon in enumerate(epsilons):
        cells = (escaped(shown_share(values[i])) for values in columns.values())
        lines.append([f"{epsilon:g}", *cells])
    return booktabs(lines)


def shown_share(share: float | None) -> str:
    """A share as people read it; None is one that is withheld.

    Examples
    --------
    >>> shown_share(0.5), shown_share(None)
    ('50.0 %', 'withheld')
    """
    return "withheld" if share is None else f"{100 * share:.1f} %"


_VERSION = 2

_CURVES = (("attacked", "o-", "C0"), ("paper", "s:", "C7"), ("certified", "^--", "C2"))


@dataclass(frozen=True)
class RobustnessResult:
    """Accuracies under attack, with what cast doubt on them.

    An accuracy under attack is an upper bound on the accuracy that is left: a better attack
    could lower it. A certified accuracy is a lower bound, by proof.

    Attributes
    ----------
    epsilons : tuple of float
        The radii, increasing.
    clean : float
        The accuracy without attack.
    attacked : tuple of float or None
        For each radius, the share of samples that are classified correctly and that no
        attack has broken at this radius or a smaller one. None where it is withheld, because
        it would say nothing about the model.
    paper : tuple of float, optional
        The same under the paper's attack alone; None for a model without gradients.
    certified : tuple of float, optional
        For each radius, the share of samples that are classified correctly and certified;
        None without certificates.
    withheld : str
        Why accuracies are withheld, a sentence; empty if none is.
    rejected : tuple of float, optional
        Without attack and for each radius, the share of samples that the model rejects, or
        can be made to reject but not to answer with a wrong class; these are neither in
        `clean` nor in `attacked`. None for a model that always answers.
    warnings : tuple of str
        Signs that gradients are masked, and limits that came first.
    protocol, norm : str
        As asked for.
    broken_at : tuple of float or None
        For each sample the smallest radius at which it was broken: 0 if it is misclassified
        as it is, None if it stands at every radius.
    broken_by : tuple of str or None
        For each sample the attack that did it; "clean" if none was needed, "rounding" if
        the order of additions is enough to change the decision.
    zero_gradients : mapping of str to float
        For each attack with gradients the share of these that were exactly zero.
    complete : bool
        Whether every attack was run; False if a limit came first.
    seconds : float
        How long it took.
    examples : AdversarialExamples, optional
        The points that broke the samples, if they were to be kept; not in :meth:`to_dict`,
        they have a file of their own.

    Examples
    --------
    >>> result = RobustnessResult((0.1, 0.2), 0.9, (0.5, 0.1), protocol="strong", norm="linf")
    >>> print(result)
    strong protocol, linf, clean 90.0 %
    epsilon  attacked
        0.1    50.0 %
        0.2    10.0 %
    >>> RobustnessResult.from_dict(result.to_dict()) == result
    True
    """

    epsilons: tuple[float, ...]
    clean: float
    attacked: tuple[float | None, ...]
    paper: tuple[float, ...] | None = None
    certified: tuple[float, ...] | None = None
    withheld: str = ""
    rejected: tuple[float, ...] | None = None
    warnings: tuple[str, ...] = ()
    protocol: str = "strong"
    norm: str = "linf"
    broken_at: tuple[float | None, ...] = ()
    broken_by: tuple[str | None, ...] = ()
    zero_gradients: Mapping[str, float] | None = None
    complete: bool = True
    seconds: float = 0.0
    examples: AdversarialExamples | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.attacked) != len(self.epsilons):
            raise InvalidInputError(
                f"attacked must have a share for each of {len(self.epsilons)} radii, not "
                f"{len(self.attacked)}."
            )
        if (None in self.attacked) != bool(self.withheld):
            raise InvalidInputError(
                "withheld must say why a share of attacked is None, and be empty if none is."
            )

    @property
    def n_samples(self) -> int:
        """How many samples were attacked."""
        return len(self.broken_at)

    @property
    def columns(self) -> dict[str, tuple[float | None, ...]]:
        """The columns of the table by their headings, with a share for each radius."""
        rejected = None if self.rejected is None else self.rejected[1:]
        columns = {
            "attacked": self.attacked,
            "rejected": rejected,
            "paper": self.paper,
            "certified": self.certified,
        }
        return {name: values for name, values in columns.items() if values is not None}

    @property
    def found_by(self) -> dict[str, int]:
        """How many samples each attack broke first, the most successful first."""
        return dict(Counter(name for name in self.broken_by if name is not None).most_common())

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data that JSON can hold."""
        fields = asdict(replace(self, examples=None))
        del fields["examples"]
        return {"version": _VERSION, **fields}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RobustnessResult:
        """What :meth:`to_dict` returned, also after a detour through JSON."""
        fields: dict[str, Any] = dict(data)
        # Version 1 knew neither what is withheld nor what is rejected.
        if fields.pop("version", None) not in {1, _VERSION}:
            raise FileFormatError(f"A robustness result must have version 1 or {_VERSION}.")
        try:
            for name, value in fields.items():
                fields[name] = tuple(value) if isinstance(value, list) else value
            return cls(**fields)
        except (TypeError, InvalidInputError) as error:
            raise FileFormatError(f"Not a robustness result: {error}") from error

    def to_latex(self) -> str:
        r"""The table that is printed, for LaTeX with the package booktabs.

        Examples
        --------
        >>> print(RobustnessResult((0.1,), 0.9, (0.5,)).to_latex(), end="")
        % \usepackage{booktabs}
        \begin{tabular}{lr}
        \toprule
        $\epsilon$ & attacked \\
        \midrule
        0 & 90.0 \% \\
        0.1 & 50.0 \% \\
        \bottomrule
        \end{tabular}
        """
        return _latex_by_radius(self.epsilons, self.clean, self.columns)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the accuracies over the radius, with a note where something casts doubt on them.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a figure of its own by default.
        """
        ax = new_axes(ax, 5.5)
        epsilons = [0.0, *self.epsilons]
        for name, style, colour in _CURVES:
            values = getattr(self, name)
            if values is not None:
                label = f"{self.protocol} protocol" if name == "attacked" else name
                label = "paper's attack alone" if name == "paper" else label
                # What is withheld is a gap.
                curve = [np.nan if value is None else 100 * value for value in values]
                ax.plot(epsilons, [100 * self.clean, *curve], style, color=colour, label=label)
        ax.axhline(100 * self.clean, color="0.8", zorder=0, label="without attack")
        ax.set(xlabel=_radius_label(self.norm), ylabel="accuracy (%)", ylim=(-2, 102))
        notes = ["accuracies under attack are withheld: see result.withheld"] * bool(self.withheld)
        if self.warnings:
            notes.append(f"{counted(len(self.warnings), 'warning')}: see result.warnings")
        if notes:
            ax.set_title("\n".join(notes), fontsize="small")
        ax.legend(fontsize="small")
        return figure_of(ax)

    def __str__(self) -> str:
        head = f"{self.protocol} protocol, {self.norm}, clean {shown_share(self.clean)}"
        if self.rejected is not None:
            head += f", rejected {shown_share(self.rejected[0])}"
        columns = self.columns
        lines = [head, "epsilon" + "".join(f"{name:>10}" for name in columns)]
        for i, epsilon in enumerate(self.epsilons):
            cells = (shown_share(values[i]) for values in columns.values())
            lines.append(f"{epsilon:>7g}" + "".join(f"{cell:>10}" for cell in cells))
        lines += [f"withheld: {self.withheld}"] * bool(self.withheld)
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])


@dataclass(frozen=True)
class Leaderboard:
    """Models by the accuracy that attacks of one radius leave, the best first.

    What is withheld has no rank and comes last. A dagger marks accuracies that warnings cast
    doubt on.

    Parameters
    ----------
    results : mapping of str to RobustnessResult
        What was found about each model, on the same samples and with the same norm.
    epsilon : float
        One of their radii.

    Examples
    --------
    >>> plain = RobustnessResult((0.1,), 0.98, (0.1,))
    >>> hard = RobustnessResult((0.1,), 0.95, (0.9,), certified=(0.8,))
    >>> masked = RobustnessResult((0.1,), 0.97, (None,), withheld="Gradients are masked.")
    >>> print(Leaderboard({"plain": plain, "masked": masked, "hardened": hard}, 0.1))
    rank  model     clean   attacked  certified
    1     hardened  95.0 %  90.0 %    80.0 %
    2     plain     98.0 %  10.0 %    -
    -     masked    97.0 %  withheld  -
    """

    results: Mapping[str, RobustnessResult]
    epsilon: float

    def __post_init__(self) -> None:
        if not self.results:
            raise InvalidInputError("results must have at least one model.")
        if len({(result.norm, result.protocol) for result in self.results.values()}) > 1:
            raise InvalidInputError("results must be of one norm and one protocol.")
        for name, result in self.results.items():
            if self.epsilon not in result.epsilons:
                raise InvalidInputError(
                    f"epsilon must be a radius of every result; {self.epsilon!r} is none of "
                    f"{list(result.epsilons)} of {name!r}."
                )

    def table(self) -> list[list[str]]:
        """The headings, and a line for each model."""
        rows = []
        for name, result in self.results.items():
            place = result.epsilons.index(self.epsilon)
            certified = None if result.certified is None else result.certified[place]
            rows.append((result.attacked[place], name, result, certified))
        rows.sort(key=lambda row: -1.0 if row[0] is None else row[0], reverse=True)
        lines = [["rank", "model", "clean", "attacked", "certified"]]
        for attacked, name, result, certified in rows:
            better = sum(other[0] is not None and other[0] > (attacked or 0) for other in rows)
            doubt = "†" if result.warnings and attacked is not None else ""
            lines.append(
                [
                    "-" if attacked is None else str(better + 1),
                    name,
                    shown_share(result.clean),
                    shown_share(attacked) + doubt,
                    "-" if certified is None else shown_share(certified),
                ]
            )
        return lines

    def to_latex(self) -> str:
        """The same for LaTeX with the package booktabs."""
        return booktabs(
            [[escaped(cell).replace("†", r"$^\dagger$") for cell in row] for row in self.table()],
            columns="rlrrr",
        )

    def __str__(self) -> str:
        lines = self.table()
        widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
        padded = (
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        )
        return "\n".join(line.rstrip() for line in padded)


def _radius_label(norm: str) -> str:
    signs = {"linf": r"\infty", "l2": "2", "l1": "1"}
    if norm in signs:
        return rf"radius ($\ell_{signs[norm]}$)"
    known = {"l0": "pixels that change", "patch": "side of the patch (pixels)"}
    return known.get(norm, f"severity ({norm})")
