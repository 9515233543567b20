from dataclasses import replace

import pytest
from tests.paper.made_up import attacked, measured, table1

from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.paper import Record
from ecoc.paper.figures import pack
from ecoc.paper.reproduction import check_complete, check_record

GALLERY = Record(
    "figure-codebooks",
    {"code": "dense", "k": 2, "L": 3},
    "quick",
    "ok",
    None,
    {"row_distance": 2},
    data={"rows": ["+-0", "-+-"], "spectrum": {"2": 1, "2.5": 3}},
)
PLANE = Record(
    "figure-boundaries",
    {"codebook": "ip3", "L": 1},
    "quick",
    "ok",
    None,
    {"accuracy": 90.0},
    data={
        "regions": pack([[0, 1], [2, 3]]),
        "columns": pack([[[0, 1], [1, 0]]]),
        "points": pack([[10, 20]]),
        "classes": pack([3]),
    },
)
MATRICES = Record(
    "figure-correlation",
    {"inputs": "natural"},
    "quick",
    "ok",
    None,
    dict.fromkeys(("accuracy", "mean_p", "mean_p_if_independent", "mean_phi"), 0.2),
    data={"p": [[0.1, None], [0.2, 0.3]], "phi": [[0.1]]},
)


def changed(record, field, **values):
    return replace(record, **{field: {**getattr(record, field), **values}})


def test_whole_records_are_accepted():
    records = [GALLERY, PLANE, MATRICES, *table1(), *attacked(3.0), *measured("table6")]
    for record in records:
        check_record(record)
    check_complete(records)


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (changed(table1()[0], "measured", cliques=None), "measured must have 'cliques'"),
        (replace(table1()[0], keys={"k": 10}), "keys must have 'cover'"),
        (replace(table1()[0], paper={}), "paper must have 'conflicts'"),
        (changed(attacked(3.0)[0], "measured", **{"strong 0.1": None}), "'strong 0.1'"),
        (replace(GALLERY, data={}), "data must have 'rows'"),
        (changed(GALLERY, "data", rows=["+-", "+"]), r"data\['rows'\] must be a list of rows"),
        (changed(GALLERY, "data", rows=["+x"]), "must be rows such as"),
        (changed(GALLERY, "data", spectrum={}), "a count for each distance"),
        (changed(GALLERY, "data", spectrum={"far": 1}), "distances that are numbers"),
        (changed(GALLERY, "data", spectrum={"nan": 1}), "distances that are numbers"),
        (changed(GALLERY, "data", spectrum={"2": -1}), "not be below 0|at least 0"),
        (changed(PLANE, "data", columns=pack([[[0, 2]]])), "arrays that fit together"),
        (changed(PLANE, "data", classes=pack([3, 3])), "arrays that fit together"),
        (changed(PLANE, "data", points={}), "no packed array"),
        (changed(MATRICES, "data", phi=[[0.1], []]), r"data\['phi'\] must be a list of rows"),
        (changed(MATRICES, "data", p=[["a"]]), r"data\['p'\]"),
    ],
)
def test_what_cannot_be_shown_is_named(record, told):
    with pytest.raises(FileFormatError, match=told) as caught:
        check_complete([record])
    assert f"The record {record.identity} is not whole" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"experiment": "table99"}, "experiment"),
        ({"scale": "huge"}, "scale"),
        ({"seed": -1}, "seed"),
        ({"note": 3}, "note must be a text"),
        ({"measured": []}, "measured must be an object"),
        ({"keys": {"k": 2.5}}, r"keys\['k'\]"),
        ({"keys": {"codebook": "golay"}}, r"keys\['codebook'\]"),
        ({"measured": {"verified": 1}}, "must be true or false"),
        ({"measured": {"pgd far": 1}}, "must have a radius"),
        ({"measured": {"cliques": 0}}, r"measured\['cliques'\]"),
    ],
)
def test_fields_of_the_wrong_kind_are_named(change, told):
    with pytest.raises(InvalidInputError, match=told):
        check_record(replace(table1()[0], **change))
