"""Draw docs/images/error-correction.png: a codebook that corrects the errors of its columns.

Run ``python tools/draw_error_correction.py``. Twenty decision trees, the columns of the optimal
codebook of ten classes, look at a handwritten digit that they have not seen and that as many of
them as the code corrects are wrong about.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from ecoc import ECOCClassifier

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "error-correction.png"
MINUS, PLUS, WRONG, QUIET = "#e69f00", "#1f5fa6", "#c1121f", "#b8bfc6"


def main() -> None:
    """Train, find a digit that shows it, and draw."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    tree = DecisionTreeClassifier(random_state=0)
    model = ECOCClassifier(tree, decoding="hamming", random_state=0).fit(X_train, y_train)
    code = model.codebook_
    answers = np.where(model.column_scores(X_test) > 0, 1, -1)
    wrong = answers != code.matrix[y_test]
    # There are dozens of such digits; in so few pixels, this one is easy to read.
    sample = np.flatnonzero(wrong.sum(axis=1) == code.correctable_errors)[4]
    draw(X_test[sample].reshape(8, 8), int(y_test[sample]), answers[sample], code.matrix)


def draw(image: np.ndarray, truth: int, answers: np.ndarray, matrix: np.ndarray) -> None:
    """The codewords, the answers below them, and their distances beside them."""
    k, length = matrix.shape
    colours = ListedColormap([MINUS, PLUS])
    figure = Figure(figsize=(9.6, 5))
    grid = figure.add_gridspec(
        2, 3, width_ratios=[2.2, 9, 3.4], height_ratios=[k, 1], wspace=0.06, hspace=0.14,
        left=0.01, right=0.99, top=0.93, bottom=0.1,
    )  # fmt: skip

    codewords = figure.add_subplot(grid[0, 1])
    codewords.imshow(matrix, cmap=colours, aspect="auto", vmin=-1, vmax=1)
    codewords.set_yticks(range(k), [f"digit {row}" for row in range(k)])
    codewords.set_title(f"A codeword for each of {k} classes", fontsize=11)

    asked = figure.add_subplot(grid[1, 1])
    asked.imshow(answers[None], cmap=colours, aspect="auto", vmin=-1, vmax=1)
    asked.set_yticks([0], ["answers"])
    errors = np.flatnonzero(answers != matrix[truth])
    for column in errors:
        asked.add_patch(
            Rectangle((column - 0.46, -0.44), 0.92, 0.88, fill=False, edgecolor=WRONG, linewidth=3)
        )
    asked.set_xlabel(
        f"{length} trees were asked (blue +1, orange -1); the {len(errors)} in red are wrong",
        fontsize=10,
    )
    for axes, rows in ((codewords, k), (asked, 1)):
        axes.set_xticks([])
        axes.tick_params(length=0, labelsize=10)
        axes.vlines(np.arange(length - 1) + 0.5, -0.5, rows - 0.5, color="white", linewidth=1)
        axes.hlines(np.arange(rows - 1) + 0.5, -0.5, length - 0.5, color="white", linewidth=2)
        axes.spines[:].set_visible(False)

    distances = (matrix != answers).sum(axis=1)
    bars = figure.add_subplot(grid[0, 2], sharey=codewords)
    bars.barh(
        range(k), distances, height=0.7,
        color=[PLUS if row == distances.argmin() else QUIET for row in range(k)],
    )  # fmt: skip
    for row, distance in enumerate(distances.tolist()):
        nearest = row == distances.argmin()
        bars.text(
            distance + 0.2, row, f"{distance}" + ("  nearest" if nearest else ""),
            va="center", fontsize=10, fontweight="bold" if nearest else "normal",
        )  # fmt: skip
    bars.set_title("Distance to the answers", fontsize=11)
    bars.set_xlim(0, distances.max() + 2)
    bars.set_xticks([])
    bars.tick_params(length=0, labelleft=False)
    bars.spines[:].set_visible(False)

    seen = figure.add_axes((0.005, 0.055, 0.085, 0.16))
    seen.imshow(image, cmap="gray_r")
    seen.set_axis_off()
    seen.set_title("a new digit", fontsize=9)

    decided = figure.add_subplot(grid[1, 2])
    decided.set_axis_off()
    decided.text(
        0.04, 0.5, f"decided: {distances.argmin()}", va="center", fontsize=13, fontweight="bold",
        color=PLUS,
    )  # fmt: skip
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=150, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    main()
