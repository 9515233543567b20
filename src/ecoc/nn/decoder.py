"""Decoder and loss as torch modules: from the logits of columns to classes, and to gradients."""

from __future__ import annotations

import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from ecoc._checks import check_choice, counted
from ecoc.codes import Codebook
from ecoc.codes.validation import as_entries, check_two_symbols
from ecoc.errors import InvalidInputError

__all__ = ["OUTPUTS", "CodeDecoder", "CodeLoss"]

OUTPUTS = ("soft", "log-soft", "normalised-logistic", "normalised-linear", "hamming")
"""The forms in which a decoder scores classes; the largest score wins in each.

All but ``"log-soft"``, which decides as ``"soft"`` does, are the names of decoders in
:data:`ecoc.multiclass.decoders.DECODERS`.
"""


class CodeDecoder(nn.Module):
    r"""Score each class from the logits of the columns, with gradients.

    A positive logit :math:`z_l` means the +1 side of column l, whose probability is
    :math:`r_l = 1 / (1 + \exp(-z_l))`. Prediction and attack go through the same module.

    Parameters
    ----------
    matrix : Codebook or array-like of shape (n_classes, n_columns)
        Entries -1, 0 and +1.
    output : {"soft", "log-soft", "normalised-logistic", "normalised-linear", "hamming"}
        As :class:`ecoc.multiclass.ECOCClassifier` calls the decoders; ``"soft"`` by default.

        - ``"soft"``: equation 20 of Gupta & Amin (2021), the probability of the class's
          side, as the mean over the columns that use the class. Its gradient vanishes with
          the columns' certainty, and in float32 it is exactly 0 beyond logits of about 100.
        - ``"log-soft"``: the logarithm of the same, computed from logarithms: finite for every
          finite logit, and with a gradient where a score itself has become 0.
        - ``"normalised-logistic"``: the mean logarithm of the probabilities, which is minus the
          logistic loss of the codeword. Every column that is on the wrong side keeps a
          gradient, however certain it is.
        - ``"normalised-linear"``: the codeword times the logits, divided by the number of
          columns that use the class if the code is ternary. Nothing saturates.
        - ``"hamming"``: minus the Hamming distance between codeword and signs (a zero of
          either counts one half). Its gradient is 0 everywhere.
    normalise : bool, default=True
        Means over the columns that use a class. With False sums, as equation 20 has them;
        for codes of +1 and -1 they decide alike.

    Examples
    --------
    >>> decoder = CodeDecoder([[1, 1], [1, -1], [-1, 0]])
    >>> decoder(torch.tensor([[2.0, -1.0]])).round(decimals=2)
    tensor([[0.5700, 0.8100, 0.1200]])
    >>> CodeDecoder([[1, 1], [1, -1], [-1, 0]], "normalised-linear")(torch.tensor([[2.0, -1.0]]))
    tensor([[ 0.5000,  1.5000, -2.0000]])
    """

    code: Tensor
    used: Tensor

    def __init__(
        self,
        matrix: Codebook | npt.ArrayLike,
        output: str = "soft",
        *,
        normalise: bool = True,
    ) -> None:
        super().__init__()
        self.output = check_choice("output", output, OUTPUTS)
        self.normalise = normalise
        code = _entries(matrix, "CodeDecoder")
        # Small integers are exact in every dtype, so the buffers follow that of the logits.
        self.register_buffer("code", code.float(), persistent=False)
        self.register_buffer("used", code.abs().sum(dim=1).float(), persistent=False)

    def forward(self, logits: Tensor) -> Tensor:
        """Score each class.

        Parameters
        ----------
        logits : tensor of shape (n_samples, n_columns)
            Any floating dtype, which is that of the result.

        Returns
        -------
        tensor of shape (n_samples, n_classes)
            Larger is better.
        """
        if logits.ndim != 2 or logits.shape[1] != self.code.shape[1]:
            raise InvalidInputError(
                f"logits must have shape (n_samples, {self.code.shape[1]}), "
                f"not {tuple(logits.shape)}."
            )
        code, used = self.code.to(logits.dtype), self.used.to(logits.dtype)
        if self.output == "hamming":
            # Both terms are whole numbers or halves: the distance is exact.
            return (torch.sign(logits) @ code.T - code.shape[1]) / 2
        if self.output == "log-soft":
            sides = functional.logsigmoid(logits[:, None, :] * code)
            sums = sides.masked_fill(code == 0, -torch.inf).logsumexp(dim=2)
            return sums - used.log() if self.normalise else sums
        if self.output == "normalised-linear":
            sums = logits @ code.T
            ternary = self.normalise and bool((code == 0).any())
            return sums / used if ternary else sums
        # Each side by a product of its own: of r and 1 - r the smaller one keeps its digits
        # and its gradient, as it does in a softmax of two outputs.
        side = torch.sigmoid if self.output == "soft" else functional.logsigmoid
        sums = side(logits) @ code.clamp(min=0).T + side(-logits) @ code.clamp(max=0).neg().T
        return sums / used if self.normalise else sums

    def extra_repr(self) -> str:
        """Classes, columns and form, for printing."""
        return (
            f"{self.code.shape[0]} classes, {counted(self.code.shape[1], 'column')}, "
            f"{self.output!r}"
        )


class CodeLoss(nn.Module):
    """The loss that trains the columns of a codebook, for a training loop of your own.

    The logistic loss of each column over the samples whose class it uses, as the mean over
    the columns. Each column learns for itself: nothing of one is made up for by another, as
    it is by a loss behind the decoder.

    Parameters
    ----------
    codebook : Codebook or array-like of shape (n_classes, n_columns)
        Entries -1, 0 and +1.

    Examples
    --------
    >>> loss = CodeLoss([[1, 1], [1, -1], [-1, 0]])
    >>> logits = torch.tensor([[5.0, -5.0], [-5.0, 7.0]])
    >>> loss(logits, torch.tensor([1, 2])).round(decimals=4), loss(logits, torch.tensor([2, 1]))
    (tensor(0.0067), tensor(6.0038))
    """

    code: Tensor

    def __init__(self, codebook: Codebook | npt.ArrayLike) -> None:
        super().__init__()
        self.register_buffer("code", _entries(codebook, "CodeLoss").float(), persistent=False)

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The mean loss.

        Parameters
        ----------
        logits : tensor of shape (n_samples, n_columns)
            What the network says about the columns.
        targets : tensor of int of shape (n_samples,)
            The row of the codebook that each sample belongs to.
        """
        if logits.ndim != 2 or logits.shape[1] != self.code.shape[1]:
            raise InvalidInputError(
                f"logits must have shape (n_samples, {self.code.shape[1]}), "
                f"not {tuple(logits.shape)}."
            )
        sides = self.code.to(logits.dtype)[targets]
        losses = functional.softplus(-sides * logits) * sides.abs()
        return (losses.sum(dim=0) / sides.abs().sum(dim=0).clamp(min=1)).mean()

    def extra_repr(self) -> str:
        """Classes and columns, for printing."""
        return f"{self.code.shape[0]} classes, {counted(self.code.shape[1], 'column')}"


def _entries(codebook: Codebook | npt.ArrayLike, name: str) -> Tensor:
    """The entries of a codebook of two symbols, of which every class uses a column."""
    if isinstance(codebook, Codebook):
        check_two_symbols(codebook, name)
    entries = codebook.matrix if isinstance(codebook, Codebook) else as_entries(codebook)
    code = torch.tensor(entries.tolist())
    if not bool((code != 0).any(dim=1).all()):
        raise InvalidInputError("matrix must use every class in at least one column.")
    return code
