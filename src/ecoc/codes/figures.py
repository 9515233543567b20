"""The key figures of a codebook: what files store, people read, and `verify` recomputes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecoc.codes.codebook import Codebook

__all__ = ["FIGURE_TITLES", "differences", "key_figures"]

FIGURE_TITLES = {
    "n_classes": "Classes",
    "n_columns": "Columns",
    "kind": "Kind",
    "min_row_distance": "Minimum row distance",
    "correctable_errors": "Correctable column errors",
    "row_distance_spectrum": "Row distances (distance: pairs)",
    "min_column_distance_two_sided": "Minimum column distance, two-sided",
    "min_column_distance_one_sided": "Minimum column distance, one-sided",
    "max_imbalance": "Largest imbalance of a column",
}
"""The figures in the order in which they are shown, with a title for people."""


def key_figures(codebook: Codebook) -> dict[str, Any]:
    """Recompute every key figure of a codebook from its matrix.

    Examples
    --------
    >>> from ecoc.codes import one_vs_rest
    >>> figures = key_figures(one_vs_rest(4))
    >>> figures["min_row_distance"], figures["correctable_errors"]
    (2, 0)
    """
    return {
        "n_classes": codebook.n_classes,
        "n_columns": codebook.n_columns,
        "kind": "binary" if codebook.is_binary else "ternary",
        "min_row_distance": codebook.min_row_distance,
        "correctable_errors": codebook.correctable_errors,
        "row_distance_spectrum": {
            f"{distance:g}": count for distance, count in codebook.row_distance_spectrum().items()
        },
        "min_column_distance_two_sided": codebook.min_column_distance("two-sided"),
        "min_column_distance_one_sided": codebook.min_column_distance("one-sided"),
        "max_imbalance": codebook.column_balance().max_imbalance,
    }


def differences(stored: Mapping[str, Any], codebook: Codebook) -> list[str]:
    """Say, figure by figure, where stored figures differ from the matrix.

    A missing figure claims nothing; an unknown one cannot be confirmed.
    """
    found = []
    actual = key_figures(codebook)
    for name, value in stored.items():
        if name not in actual:
            found.append(f"{name} is not a figure this version knows")
        elif type(value) is bool or value != actual[name]:
            found.append(f"{name} is stored as {value!r} but the matrix has {actual[name]!r}")
    return found
