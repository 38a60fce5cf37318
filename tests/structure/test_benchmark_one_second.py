"""What a cell of one second costs with two trees: each kernel beside itself, and then the trees."""

import os

import pytest

from benchmarks import one_second

pytestmark = pytest.mark.small


def a_round(before: float, after: float, quick: float = 1.0, waits: float = 0.0) -> one_second.Round:
    """A cell takes these seconds with the trees; the kernel of `after` works in `quick` of the time.

    `waits`: seconds of the cell of `after` in which its thread did not work.
    """

    def twice(seconds: float, waited: float = 0.0) -> dict[str, list[one_second.Took]]:
        return {"sleeping": [one_second.Took(seconds, seconds - waited)] * 2}

    bare = {"before": twice(1.0), "after": twice(quick)}
    loaded = {"before": twice(before), "after": twice(after * quick, waits)}
    return one_second.Round(bare, loaded)


def test_a_kernel_that_is_quicker_by_itself_makes_no_tree_quicker():
    ratios, interval = one_second.ratio([a_round(1.01, 1.01, quick=0.9)] * 6, "sleeping")
    assert ratios == pytest.approx([1.0] * 6)
    assert interval.high == pytest.approx(1.0)


@pytest.mark.parametrize(("after", "verdict"), [(1.011, "holds"), (1.02, "missed"), (0.99, "holds")])
def test_the_target_is_for_what_is_added_to_the_tree_before(after, verdict):
    text = one_second.as_text([a_round(1.01, after)] * 6, {"sleeping": 1})
    assert text.splitlines()[1].endswith(verdict)


@pytest.mark.parametrize(("waits", "verdict"), [(0.002, "holds"), (0.004, "missed")])
def test_what_a_cell_waits_is_told_however_quick_its_work_was(waits, verdict):
    text = one_second.as_text([a_round(1.01, 1.01, quick=0.9, waits=waits)] * 6, {"sleeping": 1})
    beside = text.split("\n\n")[1].splitlines()[1]
    assert f"{waits * 1e3:.2f} ms" in beside
    assert beside.endswith(verdict)


def test_fewer_than_six_rounds_have_no_interval():
    assert "none: too few rounds" in one_second.as_text([a_round(1.01, 1.01)] * 5, {"sleeping": 1})


def test_kernels_find_the_tree_before_what_the_caller_names(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "libraries")
    assert one_second.python_path("/tree").split(os.pathsep) == ["/tree", str(tmp_path / "libraries")]
    monkeypatch.delenv("PYTHONPATH")
    assert one_second.python_path(None) == ""


def test_every_sort_of_cell_says_how_often_it_does_its_work():
    for sort in one_second.SORTS:
        assert sort.code.format(work=7) != sort.code.format(work=8)
