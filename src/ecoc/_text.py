"""Text that is safe to print, wherever it comes from."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str, keep: str = "") -> str:
    r"""Return text in which nothing steers a terminal: the rest is written as escapes.

    Parameters
    ----------
    text : str
        Text from a file, or a message that may quote one.
    keep : str
        Characters to leave alone, such as ``"\n"``.

    Examples
    --------
    >>> print(printable("safe \x1b[2Jscreen"))
    safe \x1b[2Jscreen
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)
