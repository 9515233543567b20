import numpy as np
import pytest

from ecoc.errors import FileFormatError
from ecoc.paper.figures import pack, unpack


def test_packed_arrays_come_back():
    values = np.random.default_rng(0).integers(0, 256, size=(3, 17, 5))
    assert np.array_equal(unpack(pack(values)), values)
    assert unpack(pack(np.zeros((0, 4)))).shape == (0, 4)


@pytest.mark.parametrize(
    "packed",
    [
        {},
        {"shape": [2, 2], "bytes": "!"},
        {"shape": [2, 2], "bytes": pack([1, 2, 3])["bytes"]},
        {"shape": [2, 2], "bytes": pack([1, 2, 3, 4, 5])["bytes"]},
        {"shape": [10**6, 10**6], "bytes": pack([1])["bytes"]},
        {"shape": "x", "bytes": pack([1])["bytes"]},
    ],
)
def test_what_is_no_array_is_refused(packed):
    with pytest.raises(FileFormatError, match="no packed array"):
        unpack(packed)
