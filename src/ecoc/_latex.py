"""Tables for LaTeX, in the style of the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["booktabs", "escaped", "text_table"]

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def escaped(text: str) -> str:
    r"""Text that LaTeX shows as it is.

    Examples
    --------
    >>> print(escaped("50 % of {a_1, b}"))
    50 \% of \{a\_1, b\}
    """
    words = " ".join(text.split())
    shown = "".join(_SPECIAL.get(sign, sign) for sign in words)
    # Two hyphens in a row would become a dash.
    return shown.replace("--", "-{}-").replace("--", "-{}-")


def booktabs(lines: Sequence[Sequence[str]], *, columns: str | None = None) -> str:
    r"""A table of cells that are LaTeX already; the first line has the headings.

    Parameters
    ----------
    lines : sequence of sequences of str
        The rows, all of one length.
    columns : str, optional
        The alignment; the first column to the left and the others to the right by default.

    Examples
    --------
    >>> print(booktabs([["k", "distance"], ["10", "5"]]), end="")
    % \usepackage{booktabs}
    \begin{tabular}{lr}
    \toprule
    k & distance \\
    \midrule
    10 & 5 \\
    \bottomrule
    \end{tabular}
    """
    heading, *rows = [" & ".join(_cell(cell) for cell in line) + r" \\" for line in lines]
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            rf"\begin{{tabular}}{{{columns or 'l' + 'r' * (len(lines[0]) - 1)}}}",
            r"\toprule",
            heading,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def text_table(lines: Sequence[Sequence[str]]) -> str:
    r"""A table of cells that are plain text; the first line has the headings.

    Examples
    --------
    >>> print(text_table([["class", "share"], ["a_1", "50 %"]]).splitlines()[5])
    a\_1 & 50 \% \\
    """
    return booktabs([[escaped(cell) for cell in line] for line in lines])


def _cell(cell: str) -> str:
    """A cell that the end of the line before cannot take for its own argument."""
    return f"{{{cell[0]}}}{cell[1:]}" if cell[:1] in {"[", "*"} else cell
