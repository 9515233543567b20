import numpy as np
import pytest

from ecoc.errors import InvalidInputError
from ecoc.tables.features import (
    MAX_CATEGORIES,
    Feature,
    encode,
    find_features,
    read_labels,
    rows_with_class,
)
from ecoc.tables.reading import read_table


@pytest.fixture
def table(tmp_path):
    def made(text):
        path = tmp_path / "data.csv"
        path.write_text(text)
        return read_table(path)

    return made


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["10", "9", "10"], [10, 9, 10]),
        (["-1", "0", "1"], [-1, 0, 1]),
        (["01", "1", "2"], ["01", "1", "2"]),
        (["1.0", "2", "1.0"], ["1.0", "2", "1.0"]),
        (["NA", "b", "NA"], ["NA", "b", "NA"]),
        (["9" * 30, "1", "1"], ["9" * 30, "1", "1"]),
    ],
)
def test_labels_are_whole_numbers_or_texts(table, cells, expected):
    labels = read_labels(table("x,kind\n" + "".join(f"1,{cell}\n" for cell in cells)), "kind")
    assert labels.tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,kind\n1,a\n2,a\n", "only 'a'"),
        ("x,kinds\n1,a\n", "not 'kind'. It has 'x', 'kinds'. Did you mean 'kinds'"),
    ],
)
def test_labels_that_cannot_be_learned(table, text, message):
    with pytest.raises(InvalidInputError, match=message):
        read_labels(table(text), "kind")


def test_rows_without_a_class_are_left_out(table):
    kept, notes = rows_with_class(table("x,kind\n1,a\n2,\n3,?\n4,b\n"), "kind")
    assert kept.rows == (("1", "a"), ("4", "b"))
    assert notes == ("2 rows without a class in 'kind' were left out (line 3, line 4)",)
    with pytest.raises(InvalidInputError, match="all of its cells are empty"):
        rows_with_class(table("x,kind\n1,\n2,?\n"), "kind")


def features_of(table, text, **options):
    """The features of a table with a class in every row, and the notes on its columns."""
    return find_features(table(text), "kind", **options)


def test_numbers_and_texts_become_features(table):
    found = table("id,x,colour,kind\na1,1,red,a\na2,-2.5e3,blue,b\na3,7,red,a\n")
    features, notes = find_features(found, "kind", drop=["id"])
    assert features == (Feature("x"), Feature("colour", ("blue", "red")))
    assert notes == ()
    assert [feature.width for feature in features] == [1, 2]
    assert encode(found, features).X.tolist() == [[1, 0, 1], [-2500, 1, 0], [7, 0, 1]]


def test_numbers_that_are_names(table):
    text = "code,kind\n10115,a\n20095,b\n10115,a\n"
    assert features_of(table, text)[0] == (Feature("code"),)
    assert features_of(table, text, categories=["code"])[0] == (
        Feature("code", ("10115", "20095")),
    )


@pytest.mark.parametrize(
    ("cells", "padded"),
    [
        (("00501", "10115"), "00501"),
        (("0", "10"), None),
        (("0.5", "00.5"), None),
        (("1", ""), None),
    ],
)
def test_numbers_with_leading_zeros_may_be_names(table, cells, padded):
    features, notes = features_of(table, f"code,kind\n{cells[0]},a\n{cells[1]},b\n")
    assert features == (Feature("code"),)
    assert len(notes) == (padded is not None)
    if padded:
        assert notes[0].endswith("if values such as 00501 are names, say so (--category code)")


def test_underscores_are_no_part_of_numbers(table):
    features, _ = features_of(table, "code,kind\n1_0,a\n1_1,b\n")
    assert features == (Feature("code", ("1_0", "1_1")),)


def test_a_few_words_among_numbers_are_missing_values(table):
    cells = [str(i) for i in range(40)] + ["unknown", "n.d."]
    found = table("x,kind\n" + "".join(f"{cell},a\n" for cell in cells))
    features, notes = find_features(found, "kind")
    assert features == (Feature("x"),)
    assert notes == ("column 'x' is numbers; unknown, n.d. is missing",)
    encoded = encode(found, features)
    assert np.isnan(encoded.X[-2:]).all()
    assert encoded.notes == ("column 'x' has values that the model does not know: n.d., unknown",)
    # Where they are many, they are values.
    few = table("x,kind\n" + "".join(f"{cell},a\n" for cell in cells[-12:]))
    assert find_features(few, "kind")[0][0].kind == "category"


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["2024-05-01", "1969-12-31"], [[19844, 2024, 5, 1, 2, 0], [-1, 1969, 12, 31, 2, 0]]),
        (["2024-05-01T06:30:00", "2024-05-01"], [[19844 + 6.5 / 24, 2024, 5, 1, 2, 6.5]]),
        (["31.12.2023", ""], [[19722, 2023, 12, 31, 6, 0], [np.nan] * 6]),
        (["12/31/2023", "1/2/2024"], [[19722, 2023, 12, 31, 6, 0]]),
        (["31/12/2023", "1/2/2024"], [[19722, 2023, 12, 31, 6, 0]]),
        (["1 May 2024", "2 May 2024"], [[19844, 2024, 5, 1, 2, 0]]),
    ],
)
def test_dates_become_numbers(table, cells, numbers):
    found = table("day,kind\n" + "".join(f'"{cell}",a\n' for cell in cells))
    features, _ = find_features(found, "kind")
    assert features[0].kind == "date"
    values = encode(found, features).X
    np.testing.assert_allclose(values[: len(numbers)], numbers)
    later = table("day,kind\nsoon,a\n")
    encoded = encode(later, features)
    assert np.isnan(encoded.X).all()
    assert "does not know: soon" in encoded.notes[0]


@pytest.mark.parametrize("cells", [["2024", "2023"], ["20240501", "20240502"], ["1.5", "2.5"]])
def test_numbers_are_no_dates(table, cells):
    assert features_of(table, "x,kind\n" + "".join(f"{c},a\n" for c in cells))[0][0].kind == (
        "number"
    )


def test_dates_that_could_be_of_two_kinds_are_said(table):
    assert features_of(table, "x,kind\n1/2/2024,a\n3/4/2024,b\n")[1] == (
        "column 'x' was read as month/day/year",
    )


def test_booleans_are_categories(table):
    for pair in (("true", "false"), ("yes", "no"), ("Y", "N")):
        feature = features_of(table, f"x,kind\n{pair[0]},a\n{pair[1]},b\n")[0][0]
        assert feature.categories == tuple(sorted(pair))


def test_rare_and_unseen_texts_share_an_indicator(table):
    cells = ["red"] * 40 + ["blue"] * 15 + ["mauve", "puce"]
    found = table("c,kind\n" + "".join(f"{cell},a\n" for cell in cells))
    features, _ = find_features(found, "kind")
    assert features == (Feature("c", ("blue", "red"), rare=True),)
    encoded = encode(table("c\nred\nmauve\nunseen\n?\n"), features)
    assert encoded.X.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]]
    assert encoded.notes == ()


def test_unknown_texts_have_no_indicator_and_a_note(table):
    found = encode(table("c\nred\ngreen\n"), [Feature("c", ("blue", "red"))])
    assert found.X.tolist() == [[0, 1], [0, 0]]
    assert found.notes == ("column 'c' has values that the model does not know: green",)


def test_columns_of_many_texts(table):
    often = ["u", "v"] * 50
    names = [f"n{i}" for i in range(MAX_CATEGORIES + 10)]
    body = "".join(f"{cell},a\n" for cell in often + names)
    features, notes = features_of(table, f"c,kind\n{body}")
    assert features == (Feature("c", ("u", "v"), rare=True),)
    assert notes == ("column 'c' has 52 different texts; the 2 most frequent are kept apart",)
    body = "".join(f"{cell},{place},a\n" for place, cell in enumerate(names))
    features, notes = features_of(table, f"name,x,kind\n{body}")
    assert features == (Feature("x"),)
    assert notes == ("column 'name' has 50 different texts in 50 rows and was left out",)


def test_columns_are_found_by_name_and_may_be_missing(table):
    features = (Feature("x"), Feature("y"), Feature("c", ("u",)))
    assert encode(table("y,other,c,x\n1,a,u,2\n"), features).X.tolist() == [[2, 1, 1]]
    encoded = encode(table("x,z\n1,2\n"), features)
    np.testing.assert_array_equal(encoded.X, [[1, np.nan, 0]])
    assert encoded.notes == ("the columns y, c of the model are missing in all rows",)
    with pytest.raises(InvalidInputError, match="'y', 'c' are not among 'x', 'z'"):
        encode(table("x,z\n1,2\n"), features, allow_missing=False)
    with pytest.raises(InvalidInputError, match="'x', 'y', 'c' are not among 'z'"):
        encode(table("z\n2\n"), features)


def test_missing_values_are_counted_and_placed(table):
    found = table("x,c,kind\n1,red,a\nNA,?,b\n,red,a\nNaN,blue,b\n")
    features, _ = find_features(found, "kind")
    assert features[0] == Feature("x")
    with pytest.raises(
        InvalidInputError, match="4 values are missing: 'c' in line 3, 'x' in line 3"
    ):
        encode(found, features, allow_missing=False)
    values = encode(found, features).X
    assert np.isnan(values[1:, 0]).all()
    assert values[:, 1:].tolist() == [[0, 1], [0, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("x,kind\n1,a\n", {"drop": ["z"]}, "drop must be a column"),
        ("x,kind\n1,a\n", {"categories": ["z"]}, "categories must be a column"),
        ("x,kind\n1,a\n", {"drop": ["x"]}, "no column besides 'kind'"),
        ("x,kind\n1,a\n", {"drop": ["kind"]}, "cannot be dropped"),
        ("x,kind\n,a\n?,b\n", {}, "learn from .column 'x' is empty and was left out"),
    ],
)
def test_features_that_cannot_be_taken(table, text, options, message):
    with pytest.raises(InvalidInputError, match=message):
        find_features(table(text), "kind", **options)


@pytest.mark.parametrize("cell", ["inf", "1e999", "low", "1_000"])
def test_values_that_are_no_numbers_are_missing_and_said(table, cell):
    encoded = encode(table(f"x\n1\n{cell}\n"), [Feature("x")])
    assert encoded.X[0] == 1
    assert np.isnan(encoded.X[1])
    assert encoded.notes == (f"column 'x' has values that the model does not know: {cell}",)
