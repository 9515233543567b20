from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.multiclass.cases import decodings, symbol_decodings
from tests.strategies import binary_codebooks, codebooks, symbol_codebooks

from ecoc.codes import exhaustive, one_vs_one
from ecoc.multiclass.decoders import (
    AttenuatedEuclidean,
    Euclidean,
    Hamming,
    InverseHamming,
    Votes,
    hamming_margin,
)
from ecoc.multiclass.decoders.distances import certain_margin


def loops(matrix, scores, term):
    return np.array([[sum(map(term, row, sample)) for row in matrix.tolist()] for sample in scores])


@given(decodings())
def test_hamming_is_equations_1_and_2_with_ties_by_margin(case):
    code, scores = case
    distances = loops(code.matrix, np.sign(scores), lambda m, f: (1 - m * f) / 2)
    margins = loops(code.matrix, scores, lambda m, f: m * f)
    found = Hamming()(scores, code.matrix)
    assert np.array_equal(np.rint(-2 * found), 2 * distances)
    for row, distance, margin in zip(found, distances, margins, strict=True):
        best = min(range(len(row)), key=lambda i: (distance[i], -margin[i].round(9), i))
        winner = int(row.argmax())
        assert distance[winner] == distance[best]
        assert margin[winner] == pytest.approx(margin[best], abs=1e-6)


@given(binary_codebooks(), st.data())
def test_up_to_half_the_distance_of_wrong_columns_changes_no_decision(code, data):
    errors = code.correctable_errors
    assert errors == (code.min_row_distance - 1) // 2
    truth = data.draw(st.integers(0, code.n_classes - 1))
    wrong = data.draw(st.permutations(range(code.n_columns)))[:errors]
    sizes = data.draw(
        st.lists(st.floats(0.01, 100), min_size=code.n_columns, max_size=code.n_columns)
    )
    scores = code.matrix[truth] * np.array(sizes)
    scores[wrong] *= -1
    assert Hamming()(scores[None], code.matrix).argmax() == truth


def test_every_pattern_of_correctable_errors_is_corrected():
    code = exhaustive(4)
    assert code.correctable_errors == 1
    for truth, wrong in [(t, c) for t in range(4) for c in combinations(range(7), 1)]:
        scores = code.matrix[truth].astype(float)
        scores[list(wrong)] *= -100
        assert Hamming()(scores[None], code.matrix).argmax() == truth


@given(case=decodings(codes=st.integers(3, 6).map(one_vs_one)))
def test_votes_count_the_wins_and_decide_as_hamming_does(case):
    code, scores = case
    wins = loops(code.matrix, np.sign(scores), lambda m, f: abs(m) * (1 + m * f) / 2)
    found = Votes()(scores, code.matrix)
    assert np.array_equal(np.rint(2 * (code.n_classes - 1) * found), 2 * wins)
    assert np.array_equal(found.argmax(axis=1), Hamming()(scores, code.matrix).argmax(axis=1))


def test_votes_of_a_class_that_lost_columns_still_count():
    code = one_vs_one(4)
    scores = code.matrix[[2]] + 0.1 * code.matrix[[0]]
    lost = np.flatnonzero(code.matrix[2])[:2]
    assert Votes()(scores, code.matrix, missing_columns=lost).argmax() == 2


@given(decodings())
def test_shares_of_votes_come_before_confidence(case):
    code, scores = case
    wins = loops(code.matrix, np.sign(scores), lambda m, f: abs(m) * (1 + m * f) / 2)
    shares = wins / np.abs(code.matrix).sum(axis=1)
    chosen = Votes()(scores, code.matrix).argmax(axis=1)
    assert np.allclose(shares[np.arange(len(scores)), chosen], shares.max(axis=1))


def test_equal_votes_are_told_apart_by_confidence():
    cycle = [[0.3, -0.1, 0.2]]  # 0 beats 1, 2 beats 0, 1 beats 2
    assert Votes()(cycle, one_vs_one(3).matrix).argmax() == 0


def test_equal_classes_go_to_the_first():
    assert Hamming()([[0.0, 0.0]], [[-1, 1], [1, 1], [1, -1]]).argmax() == 0


@given(decodings())
def test_euclidean_distances(case):
    code, scores = case
    plain = loops(code.matrix, scores, lambda m, f: (m - f) ** 2)
    used = loops(code.matrix, scores, lambda m, f: abs(m) * (m - f) ** 2)
    assert Euclidean()(scores, code.matrix) == pytest.approx(-np.sqrt(plain), abs=1e-6)
    assert AttenuatedEuclidean()(scores, code.matrix) == pytest.approx(-np.sqrt(used), abs=1e-6)


@given(case=decodings(codes=binary_codebooks(5, 8)))
def test_inverse_hamming_solves_for_the_mixture(case):
    code, scores = case
    distances = loops(code.matrix, np.sign(scores), lambda m, f: (1 - m * f) / 2)
    weights = InverseHamming()(scores, code.matrix)
    among = code.row_distances().astype(float)
    expected = np.linalg.lstsq(among.T, distances.T, rcond=None)[0].T
    assert weights == pytest.approx(expected, abs=1e-7)


@given(case=decodings(codes=st.just(exhaustive(4))))
def test_on_equidistant_codes_inverse_hamming_decides_as_hamming(case):
    code, scores = case
    chosen = InverseHamming()(scores, code.matrix).argmax(axis=1)
    distances = (code.n_columns - np.sign(scores) @ code.matrix.T) / 2
    least = distances.min(axis=1)
    assert np.array_equal(distances[np.arange(len(scores)), chosen], least)


def brute_force(signs, matrix, row):
    """Change the answers of ever more columns until the predicted class no longer leads."""
    present = [column for column in range(len(signs)) if not np.isnan(signs[column])]

    def leads(answers):
        distances = [
            sum((1 - m[c] * answers[c]) / 2 for c in present) for m in matrix.astype(float)
        ]
        return all(distances[row] < d for i, d in enumerate(distances) if i != row)

    for size in range(len(present) + 1):
        for changed in combinations(present, size):
            for answers in product((-1.0, 1.0), repeat=size):
                other = signs.copy()
                other[list(changed)] = answers
                if not leads(other):
                    return max(size - 1, 0)
    raise AssertionError("two rows of a codebook differ in some column")


@given(case=decodings(max_samples=2, codes=codebooks(4, 5)), data=st.data())
def test_margins_against_every_change_of_answers(case, data):
    code, scores = case
    if data.draw(st.booleans()):
        scores[:, -1] = np.nan
    rows = (
        Hamming()(scores, code.matrix).argmax(axis=1)
        if code.n_columns > 1
        else np.zeros(len(scores), dtype=int)
    )
    if np.isnan(scores).all():
        return
    kept = ~np.isnan(scores[0])
    if len(np.unique(code.matrix[:, kept], axis=0)) < code.n_classes:
        return
    found = hamming_margin(scores, code.matrix, rows)
    for margin, sample, row in zip(found, np.sign(scores), rows, strict=True):
        assert margin == brute_force(sample, code.matrix, row)


def certain_brute_force(answers, symbols, agree, row):
    """Let ever more answers change, and the erased ones be anything, until the lead is lost."""
    present = [c for c, answer in enumerate(answers) if answer is not None]
    erased = [c for c, answer in enumerate(answers) if answer is None]
    for size in range(len(present) + 1):
        for changed in combinations(present, size):
            free = [*changed, *erased]
            for said in product(symbols, repeat=len(free)):
                other = list(answers)
                for column, answer in zip(free, said, strict=True):
                    other[column] = answer
                agreement = agree(other)
                if any(agreement[row] <= a for i, a in enumerate(agreement) if i != row):
                    return size - 1
    raise AssertionError("two rows of a codebook differ in some column")


@given(case=decodings(max_samples=2, codes=codebooks(4, 5)), data=st.data())
def test_certain_margins_whatever_the_erased_columns_say(case, data):
    code, scores = case
    erased = data.draw(st.sets(st.integers(0, code.n_columns - 1), max_size=code.n_columns - 1))
    scores[:, list(erased)] = np.nan
    rows = [data.draw(st.integers(0, code.n_classes - 1)) for _ in scores]
    found = certain_margin(scores, code.matrix, rows)
    for margin, sample, row in zip(found, np.sign(scores), rows, strict=True):
        answers = [None if np.isnan(sign) else sign for sign in sample]
        expected = certain_brute_force(
            answers, (-1.0, 1.0), lambda other: code.matrix @ np.array(other), row
        )
        assert margin == expected


@given(case=symbol_decodings(max_samples=2, codes=symbol_codebooks(4, 2)), data=st.data())
def test_certain_margins_of_symbols(case, data):
    code, scores = case
    erased = data.draw(st.sets(st.integers(0, code.n_columns - 1), max_size=code.n_columns - 1))
    scores[:, list(erased), 0] = np.nan
    rows = [data.draw(st.integers(0, code.n_classes - 1)) for _ in scores]
    found = certain_margin(scores, code.matrix, rows)
    for margin, sample, row in zip(found, scores, rows, strict=True):
        answers = [None if np.isnan(part).any() else int(part.argmax()) for part in sample]
        expected = certain_brute_force(
            answers,
            range(code.n_symbols),
            lambda other: (code.matrix == np.array(other)).sum(axis=1),
            row,
        )
        assert margin == expected


@given(binary_codebooks())
def test_a_clean_codeword_has_the_margin_of_the_code_or_more(code):
    margins = hamming_margin(code.matrix, code.matrix, np.arange(code.n_classes))
    assert margins.min() == code.correctable_errors


def test_each_wrong_column_costs_one():
    code = exhaustive(5)
    scores = code.matrix[[0]].repeat(4, axis=0).astype(float)
    for i in range(4):
        scores[i, :i] *= -1
    assert hamming_margin(scores, code.matrix, [0] * 4).tolist() == [3, 2, 1, 0]


def test_no_margin_for_a_class_that_does_not_lead():
    assert hamming_margin([[1, 1, 1]], [[1, 1, 1], [-1, -1, -1]], [1]).tolist() == [0]


def symbol_brute_force(probabilities, matrix, row):
    """Let ever more columns answer anything until the predicted class no longer leads."""
    present = [c for c in range(len(probabilities)) if not np.isnan(probabilities[c]).any()]
    given = {c: int(np.argmax(probabilities[c])) for c in present}

    def leads(answers):
        distances = [sum(m[c] != answers[c] for c in present) for m in matrix]
        return all(distances[row] < d for i, d in enumerate(distances) if i != row)

    for size in range(len(present) + 1):
        for changed in combinations(present, size):
            for answers in product(range(probabilities.shape[1]), repeat=size):
                if not leads({**given, **dict(zip(changed, answers, strict=True))}):
                    return max(size - 1, 0)
    raise AssertionError("two rows of a codebook differ in some column")


@given(case=symbol_decodings(max_samples=2, codes=symbol_codebooks(4, 2)), data=st.data())
def test_margins_of_symbols_against_every_change_of_answers(case, data):
    code, scores = case
    if code.n_columns > 1 and data.draw(st.booleans()):
        scores[:, -1, 0] = np.nan
    rows = Hamming()(scores, code.matrix).argmax(axis=1)
    if data.draw(st.booleans()):
        rows[0] = data.draw(st.integers(0, code.n_classes - 1))
    found = hamming_margin(scores, code.matrix, rows)
    for margin, sample, row in zip(found, scores, rows, strict=True):
        assert margin == symbol_brute_force(sample, code.matrix, row)


@given(case=symbol_decodings())
def test_hamming_decoding_of_symbols_by_hand(case):
    code, scores = case
    found = Hamming()(scores, code.matrix)
    for sample, row in zip(scores, found, strict=True):
        answers = [int(np.argmax(column)) for column in sample]
        for word, score in zip(code.matrix, row, strict=True):
            distance = sum(a != s for a, s in zip(answers, word, strict=True))
            assert abs(score + distance) < 0.25
    assert np.array_equal(found.argmax(axis=1), Votes()(scores, code.matrix).argmax(axis=1))


def test_equal_distances_of_symbols_are_told_apart_by_probability():
    matrix = np.array([[0, 0], [0, 1], [1, 2]])
    scores = [[[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]]]
    # Classes 0, 1 and 2 agree with one answer each; the second answer was the weaker.
    assert Hamming()(scores, matrix).argmax() == 1
    assert Votes()(scores, matrix).argmax() == 1
