import numpy as np
import pytest

from ecoc.errors import InvalidInputError
from ecoc.tables.features import Feature, encode, find_features, read_labels, read_table


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
        ("x,kind\n1,a\n2,\n3,?\n", r"2 of 3 have none in column 'kind' \(line 3, line 4\)"),
        ("x,kinds\n1,a\n", "not 'kind'. It has 'x', 'kinds'. Did you mean 'kinds'"),
    ],
)
def test_labels_that_cannot_be_learned(table, text, message):
    with pytest.raises(InvalidInputError, match=message):
        read_labels(table(text), "kind")


def test_numbers_and_texts_become_features(table):
    found = table("id,x,colour,kind\na1,1,red,a\na2,-2.5e3,blue,b\na3,7,red,a\n")
    features = find_features(found, "kind", drop=["id"], one_hot=True)
    assert features == (Feature("x"), Feature("colour", ("blue", "red")))
    assert [feature.width for feature in features] == [1, 2]
    assert encode(found, features).X.tolist() == [[1, 0, 1], [-2500, 1, 0], [7, 0, 1]]


def test_columns_are_found_by_name(table):
    features = (Feature("x"), Feature("y"))
    assert encode(table("y,other,x\n1,a,2\n"), features).X.tolist() == [[2, 1]]
    with pytest.raises(InvalidInputError, match="'y' is not among 'x', 'z'"):
        encode(table("x,z\n1,2\n"), features)


def test_unknown_texts_have_no_indicator_and_a_note(table):
    found = encode(table("c\nred\ngreen\n"), [Feature("c", ("blue", "red"))])
    assert found.X.tolist() == [[0, 1], [0, 0]]
    assert found.notes == ("column 'c' has values that the model does not know: green",)


def test_missing_values_are_counted_and_placed(table):
    found = table("x,c,kind\n1,red,a\nNA,?,b\n,red,a\nNaN,blue,b\n")
    features = find_features(found, "kind", one_hot=True)
    assert features[0] == Feature("x")
    with pytest.raises(
        InvalidInputError, match="4 values are missing: 'c' in line 3, 'x' in line 3"
    ):
        encode(found, features)
    values = encode(found, features, allow_missing=True).X
    assert np.isnan(values[1:, 0]).all()
    assert values[:, 1:].tolist() == [[0, 1], [0, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("x,kind\n1,a\nlow,b\n", {}, "column 'x' has 'low' in line 3. Drop the column"),
        ("x,kind\n1,a\n", {"drop": ["z"]}, "drop must be a column"),
        ("x,kind\n1,a\n", {"drop": ["x"]}, "no column besides 'kind'"),
        ("x,kind\n1,a\n", {"drop": ["kind"]}, "cannot be dropped"),
        (
            "x,kind\n" + "".join(f"n{i},a\n" for i in range(101)),
            {"one_hot": True},
            "at most 100 different values; column 'x' of .* has 101",
        ),
    ],
)
def test_features_that_cannot_be_taken(table, text, options, message):
    with pytest.raises(InvalidInputError, match=message):
        find_features(table(text), "kind", **options)


@pytest.mark.parametrize("cell", ["inf", "1e999", "low"])
def test_values_that_are_no_numbers(table, cell):
    with pytest.raises(InvalidInputError, match=f"finite numbers; it has '{cell}' in line 3"):
        encode(table(f"x\n1\n{cell}\n"), [Feature("x")])
