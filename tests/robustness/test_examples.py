import numpy as np
import pytest

from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.robustness import AdversarialExamples

ARRAYS = {
    "points": np.array([[0.5, 0.25], [0.0, 1.0]], dtype=np.float32),
    "samples": np.array([3, 0]),
    "labels": np.array(["ant", "bee"]),
    "radii": np.array([0.0, 0.1]),
    "norm": "l2",
}


def test_a_file_gives_back_what_was_saved(tmp_path):
    AdversarialExamples(**ARRAYS).save(tmp_path / "a.npz")
    again = AdversarialExamples.load(tmp_path / "a.npz")
    for name, value in ARRAYS.items():
        assert np.array_equal(getattr(again, name), value)
    assert again.points.dtype == np.float32


def test_labels_that_are_objects_need_no_pickles(tmp_path):
    labels = np.array(["ant", "bee"], dtype=object)
    AdversarialExamples(**{**ARRAYS, "labels": labels}).save(tmp_path / "a.npz")
    assert AdversarialExamples.load(tmp_path / "a.npz").labels.tolist() == ["ant", "bee"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"norm": "l3"}, "norm must be"),
        ({"samples": np.array([3])}, "samples must have an entry for each of the 2 points"),
        ({"samples": np.array([3, 3])}, "each of them once"),
        ({"samples": np.array([-1, 3])}, "places from 0 on"),
        ({"points": np.array([[1, 2], [3, 4]])}, "points must be floats"),
        ({"points": np.array([[1.0, np.nan], [3, 4]])}, "must be finite"),
        ({"radii": np.array([0.1, -0.1])}, "not be below 0"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, change, told):
    arrays = {**ARRAYS, **change}
    with pytest.raises(InvalidInputError, match=told):
        AdversarialExamples(**arrays)
    np.savez(tmp_path / "b.npz", **arrays)
    with pytest.raises(FileFormatError, match=told):
        AdversarialExamples.load(tmp_path / "b.npz")


def test_other_files_are_refused(tmp_path):
    np.savez(tmp_path / "c.npz", X=np.eye(2))
    with pytest.raises(FileFormatError, match="have the arrays labels, norm, points"):
        AdversarialExamples.load(tmp_path / "c.npz")
