import pytest

from ecoc.design import design_codebook


@pytest.fixture(scope="module")
def best():
    return design_codebook(6, 10, min_column_distance=2, method="integer-program")


@pytest.fixture(scope="module")
def by_theory():
    return design_codebook(8, 14)


@pytest.fixture(scope="module")
def every_column():
    return design_codebook(4, 9)
