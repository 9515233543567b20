"""The errors that ecoc raises on purpose, all below :class:`EcocError`."""

from collections.abc import Sequence

__all__ = [
    "EcocError",
    "FileFormatError",
    "InfeasibleError",
    "InvalidCodebookError",
    "InvalidInputError",
    "MissingDependencyError",
    "SolverError",
    "TimeLimitError",
    "TooLargeError",
    "UnsupportedError",
    "VerificationError",
]


class EcocError(Exception):
    """Base class of every error that ecoc raises on purpose."""


class InvalidInputError(EcocError, ValueError):
    """An argument is not acceptable; the message says what would be."""


class InvalidCodebookError(InvalidInputError):
    """A matrix is not a codebook; the message names its rows or columns."""


class UnsupportedError(InvalidInputError):
    """What was asked for is sound, but not known for this model; the message says for which.

    Whoever has another way for such models catches this, and no other invalid input with it.
    """


class FileFormatError(EcocError, ValueError):
    """A file cannot be read; the message names the place in it."""


class VerificationError(EcocError):
    """Stored claims differ from what the matrix says.

    Parameters
    ----------
    place : str
        The file, or whatever else made the claims.
    differences : sequence of str
        What differs, a sentence each without its full stop.
    """

    def __init__(self, place: str, differences: Sequence[str]) -> None:
        super().__init__(f"{place}: {'; '.join(differences)}.")
        self.place = place
        self.differences = tuple(differences)

    def __reduce__(self) -> tuple[type, tuple[str, tuple[str, ...]]]:
        return type(self), (self.place, self.differences)


class InfeasibleError(EcocError):
    """No codebook satisfies the request; the message says what would."""


class TimeLimitError(EcocError):
    """The work was not done within its time limit, and nothing is known about its outcome."""


class TooLargeError(EcocError):
    """The request would need more memory than allowed; the message says how much."""


class MissingDependencyError(EcocError, ImportError):
    """An optional library is not installed; the message has the install line."""


class SolverError(EcocError, RuntimeError):
    """A solver failed, or returned something that does not hold in integers."""
