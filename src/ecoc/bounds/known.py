"""Published values of A(n, d) that the arguments of this package do not reach."""

from __future__ import annotations

__all__ = ["KNOWN_SIZES", "SOURCE"]

SOURCE = (
    "A. E. Brouwer, Bounds for binary codes of length less than 25 (updated table of Best, "
    "Brouwer, MacWilliams, Odlyzko and Sloane, IEEE Trans. Inf. Theory 24, 1978, 81-93)"
)
"""Among the later entries are those of Best 1980 for A(10, 4); Östergård, Baicheva and Kolev
1999 for A(11, 4) and A(12, 4); Östergård 2011 for A(17, 8); and the semidefinite bounds of
Schrijver 2005 and of Gijswijt, Mittelmann and Schrijver 2012.
"""

KNOWN_SIZES: dict[tuple[int, int], int] = {
    (9, 4): 20,
    (10, 4): 40,
    (11, 4): 72,
    (12, 4): 144,
    (20, 4): 26168,
    (21, 4): 43688,
    (22, 4): 87333,
    (23, 4): 172361,
    (24, 4): 344308,
    (13, 6): 32,
    (17, 6): 340,
    (18, 6): 673,
    (19, 6): 1237,
    (20, 6): 2279,
    (21, 6): 4096,
    (22, 6): 6941,
    (23, 6): 13674,
    (24, 6): 24106,
    (17, 8): 36,
    (18, 8): 64,
    (19, 8): 128,
    (20, 8): 256,
    (21, 8): 512,
    (25, 8): 5421,
    (26, 8): 9275,
    (21, 10): 47,
    (22, 10): 84,
    (23, 10): 150,
    (24, 10): 268,
    (25, 10): 466,
    (26, 10): 836,
    (27, 10): 1585,
    (25, 12): 55,
    (26, 12): 96,
    (27, 12): 169,
}
"""Upper bounds on A(n, d) for even d."""
