from dataclasses import replace

from ecoc.paper.records import Record, Results, latest


def record(k=10, status="ok", **more):
    return Record("table2", {"k": k, "L": 2 * k}, "quick", status, **more)


def test_last_word_wins_but_a_failure_takes_nothing_back():
    ok = record(measured={"best": 10})
    again = record(measured={"best": 11})
    assert list(latest([ok, record(status="failed")]).values()) == [ok]
    assert list(latest([record(status="failed"), ok, again]).values()) == [again]
    assert len(latest([ok, record(11), record(seed=1)])) == 3


def test_larger_scale_wins_and_a_failure_at_it_does_not():
    large = [record(k, measured={"best": k}) for k in (10, 11)]
    small = [replace(one, scale="smoke") for one in large]
    assert {one.scale for one in Results([*large, *small]).measured} == {"quick"}
    assert Results([*large, *small]).scale == "quick"
    failed = [replace(one, status="failed", scale="full") for one in large]
    assert {one.scale for one in Results([*failed, *large]).measured} == {"quick"}


def test_scales_are_shown_beside_each_other_and_smoke_only_alone():
    quick = [record(k, measured={"best": k}) for k in (10, 11)]
    full = replace(quick[0], scale="full")
    smoke = [replace(one, scale="smoke") for one in (*quick, record(12))]
    results = Results([*smoke, *quick, full])
    shown = [(one.keys["k"], one.scale) for one in results.shown]
    assert shown == [(10, "full"), (10, "quick"), (11, "quick"), (12, "smoke")]
    assert [one.scale for one in results.records] == ["full", "quick", "smoke"]
    assert results.at("full").records == (full,)
    assert results.at("quick").value("best", k=11) == 11
    failed = replace(full, status="failed")
    assert [one.scale for one in Results([failed, *quick]).shown] == ["quick", "quick"]
