import re

import pytest

from ecoc.report.charts import Series, bar_chart, line_chart


def places(chart):
    return [
        tuple(map(float, pair))
        for pair in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', chart)
    ]


def draw(*series, **options):
    return line_chart(series, title="t", x_label="x", y_label="y", **options)


def test_points_keep_their_proportions():
    (a, b, c) = places(draw(Series("s", [(0, 0), (1, 10), (4, 20)])))
    assert (c[0] - a[0]) == pytest.approx(4 * (b[0] - a[0]), abs=0.3)
    assert (a[1] - c[1]) == pytest.approx(2 * (a[1] - b[1]), abs=0.3)
    assert a[1] > b[1] > c[1]  # up is up


def test_logarithmic_steps_are_even():
    heights = [y for _, y in places(draw(Series("s", [(1, 1), (2, 100), (3, 10_000)]), log_y=True))]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)


def test_zero_has_no_place_on_a_logarithmic_axis():
    assert len(places(draw(Series("s", [(1, 0), (2, 10), (3, 100)]), log_y=True))) == 2


def test_given_range_is_kept():
    chart = draw(Series("s", [(1, 40), (2, 60)]), y_range=(0, 100))
    assert ">0</text>" in chart
    assert ">100</text>" in chart


def test_text_is_escaped_and_told_to_those_who_cannot_see():
    chart = draw(Series("<a & b>", [(1, 2), (2, 5)]))
    assert "<a" not in chart.replace("<a ", "")
    assert 'aria-label="t. &lt;a &amp; b&gt; from 2 to 5."' in chart


def test_nothing_to_draw():
    assert draw(Series("s", [])) == ""
    assert bar_chart({}, title="t", x_label="x", y_label="y") == ""


def test_one_point_is_drawn():
    assert len(places(draw(Series("s", [(3, 3)])))) == 1


def test_bars_are_as_high_as_their_values():
    chart = bar_chart({"8": 4, "9": 8, "10": 2}, title="t", x_label="x", y_label="y")
    heights = [float(height) for height in re.findall(r'height="([\d.]+)" fill', chart)]
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.2)
    assert heights[0] == pytest.approx(2 * heights[2], abs=0.2)
    assert "8: 4, 9: 8, 10: 2" in chart
