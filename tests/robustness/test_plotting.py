from dataclasses import replace

from tests.robustness.test_result import RESULT


def test_curves_begin_at_the_clean_accuracy():
    figure = RESULT.plot()
    (axes,) = figure.axes
    curves = {line.get_label(): line for line in axes.lines}
    assert curves["strong protocol"].get_xydata().tolist() == [[0, 75], [0.1, 50], [0.25, 25]]
    assert curves["certified"].get_ydata().tolist() == [75, 25, 0]
    assert curves["paper's attack alone"].get_ydata().tolist() == [75, 50, 50]
    assert "1 warning" in axes.get_title()
    bare = replace(RESULT, paper=None, certified=None, warnings=())
    other = figure.add_subplot()
    assert bare.plot(other) is figure
    assert len(other.lines) == 2
