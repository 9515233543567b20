"""``Certification``: for which samples and radii a class is proved to stand."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc.robustness.certificates.smoothing import Smoothing
from ecoc.robustness.threat import Box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Certification"]


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
        no codeword there, votes under noise are too close to tell, or classes are tied.
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

        A lower bound on the accuracy under any attack of that radius; None without labels.
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
        found: npt.NDArray[np.float64] = np.where(self.certified, values, 0.0).max(axis=0)
        return found

    @property
    def is_probabilistic(self) -> bool:
        """Whether the guarantee holds with a stated probability instead of always."""
        return self.smoothing is not None

    def to_dict(self) -> dict[str, Any]:
        """Everything as what JSON can hold."""
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

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the certified accuracy, or share, over the radius.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a figure of its own by default.
        """
        from matplotlib.figure import Figure

        if ax is None:
            ax = Figure(figsize=(5.5, 3.6), layout="constrained").subplots()
        accuracy = self.certified_accuracy
        values = self.certified_share if accuracy is None else accuracy
        label = f"{self.method}, {self.decoding} decoding"
        if self.smoothing is not None:
            label += f" (probability {1 - self.smoothing.alpha:g} per sample)"
        ax.plot(self.epsilons, [100 * value for value in values], "^--", label=label)
        if self.clean_accuracy is not None:
            ax.axhline(100 * self.clean_accuracy, color="0.8", zorder=0, label="without attack")
        norm = r"$\ell_\infty$" if self.norm == "linf" else r"$\ell_2$"
        what = "certified share" if accuracy is None else "certified accuracy"
        ax.set(xlabel=f"radius ({norm})", ylabel=f"{what} (%)", ylim=(-2, 102))
        ax.legend(fontsize="small")
        figure = ax.get_figure(root=True)
        if figure is None:
            raise ValueError("ax must belong to a figure.")
        return figure

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
            f"<Certification of {len(self.predictions)} samples: {self.method}, "
            f"{self.decoding} decoding, {self.norm}, epsilons {list(self.epsilons)}>"
        )
