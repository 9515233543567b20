"""The checker of numbers of words: codes that exist, and proofs of too few words."""

import pytest

from ecoc.bounds.checking.words import Family, check_words
from ecoc.bounds.words import ELEMENTARY, Words, delsarte, johnson, known

ENOUGH = 1 << 40


# Sizes of codes that exist, from Brouwer's table of binary codes.
LOWER = {
    4: (6, [4, 8, 16, 20, 40, 72, 144, 256, 512, 1024, 2048, 2816, 5632, 10496, 20480, 40960]),
    6: (9, [4, 6, 12, 24, 32, 64, 128, 256, 258, 512, 1024, 2048, 2560, 4096, 8192, 16384]),
    8: (12, [4, 4, 8, 16, 32, 36, 64, 128, 256, 512, 1024, 2048, 4096, 4096, 4104, 8192]),
    10: (15, [4, 4, 6, 10, 20, 40, 42, 64, 80, 136, 192, 384, 512, 1024]),
    12: (18, [4, 4, 6, 8, 12, 24, 48, 52, 64, 128, 178]),
}


CODES = [(n, d, size) for d, (first, sizes) in LOWER.items() for n, size in enumerate(sizes, first)]


@pytest.mark.parametrize(("n", "d", "size"), CODES)
def test_codes_that_exist_are_never_excluded(n, d, size):
    for words in (Words(n, d, n), Words(n - 1, d - 1, n - 1)):
        for argument in (*ELEMENTARY, johnson, delsarte, known):
            proof = argument(words, ENOUGH)
            if proof is not None:
                assert proof["size"] >= size, proof
                family = Family(words.length, words.smallest, words.largest)
                assert check_words(proof, family) == (proof["size"], argument is known)
