"""Adversarial examples: the points that broke samples, and files of them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._files import PathLike, read_arrays, read_bytes, source_name, write_output
from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.robustness.threat import check_norm

__all__ = ["AdversarialExamples"]


@dataclass(frozen=True, eq=False)
class AdversarialExamples:
    """The points at which samples are misclassified, or rejected.

    Attributes
    ----------
    points : array of shape (n_broken, ...)
        The point for each sample that was broken: the sample itself if it is misclassified
        as it is.
    samples : array of int of shape (n_broken,)
        Which samples these are, by their places.
    labels : array of shape (n_broken,)
        Their true classes.
    radii : array of float of shape (n_broken,)
        The radius of the ball in which each point was found.
    norm : str
        How the radius is measured.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> examples = AdversarialExamples(
    ...     np.zeros((2, 3)), np.array([0, 4]), np.array([1, 2]), np.array([0.0, 0.1]), "linf"
    ... )
    >>> with TemporaryDirectory() as folder:
    ...     examples.save(f"{folder}/examples.npz")
    ...     AdversarialExamples.load(f"{folder}/examples.npz")
    <AdversarialExamples: 2 points of shape (3,), linf>
    """

    points: npt.NDArray[Any]
    samples: npt.NDArray[np.int64]
    labels: npt.NDArray[Any]
    radii: npt.NDArray[np.float64]
    norm: str

    def __post_init__(self) -> None:
        n = len(self.points)
        check_norm(self.norm)
        for name in ("samples", "labels", "radii"):
            if getattr(self, name).shape != (n,):
                raise InvalidInputError(
                    f"{name} must have an entry for each of the {n} points, not the shape "
                    f"{getattr(self, name).shape}."
                )
        if self.points.ndim < 2 or self.points.dtype.kind != "f":
            raise InvalidInputError("points must be floats, with a row for each point.")
        if self.samples.dtype.kind not in "iu" or len(np.unique(self.samples)) < n:
            raise InvalidInputError("samples must be whole numbers, each of them once.")
        if n and self.samples.min() < 0:
            raise InvalidInputError("samples must be places from 0 on.")
        if not (np.isfinite(self.points).all() and np.isfinite(self.radii).all()):
            raise InvalidInputError("points and radii must be finite.")
        if n and self.radii.min() < 0:
            raise InvalidInputError("radii must not be below 0.")

    def save(self, path: PathLike) -> None:
        """Write them to an NPZ file; labels that are Python objects become texts or numbers."""
        stream = io.BytesIO()
        labels = self.labels
        np.savez_compressed(
            stream,
            points=self.points,
            samples=self.samples,
            labels=np.array(labels.tolist()) if labels.dtype.kind == "O" else labels,
            radii=self.radii,
            norm=np.array(self.norm),
        )
        write_output(path, stream.getvalue())

    @classmethod
    def load(cls, path: PathLike) -> AdversarialExamples:
        """Read what :meth:`save` wrote.

        Raises
        ------
        FileFormatError
            If the file is not a whole NPZ file of such arrays.
        """
        name = source_name(path)
        arrays = read_arrays(read_bytes(path), kinds="biufU")
        wanted = {"points", "samples", "labels", "radii", "norm"}
        if set(arrays) != wanted:
            raise FileFormatError(
                f"{name}: adversarial examples have the arrays {', '.join(sorted(wanted))}, not "
                f"{', '.join(sorted(arrays)) or 'none'}."
            )
        try:
            norm = str(arrays.pop("norm"))
            return cls(**arrays, norm=norm)
        except InvalidInputError as error:
            raise FileFormatError(f"{name}: {error}") from error

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return (
            f"<AdversarialExamples: {len(self)} points of shape {self.points.shape[1:]}, "
            f"{self.norm}>"
        )
