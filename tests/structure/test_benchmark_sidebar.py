"""What the benchmark of the sidebar concludes from given figures, without a browser."""

import json

import pytest

from benchmarks import repeated
from benchmarks.page_tasks import Task
from benchmarks.repeated import Figure, Figures, Target

TARGET = Target("CPU time of the longest task", 50, "ms")

needs_playwright = pytest.mark.needs("playwright")


@pytest.fixture
def sidebar_load():
    """The benchmark itself, which drives a browser with a library that not every environment has."""
    from benchmarks import sidebar_load

    return sidebar_load


def figure(*values):
    return Figure("showing it", TARGET, list(values))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((10, 50, 40), "holds"),
        ((10, 51, 40), "not settled"),
        ((10, 51, 52), "missed"),
        ((51, 10, 52), "missed"),
        ((51,), "missed"),
        ((50,), "holds"),
    ],
)
def test_the_median_is_judged_and_a_repeat_beyond_the_target_is_not_passed_over(values, expected):
    assert figure(*values).verdict == expected


def test_a_figure_is_told_as_its_ratio_to_the_target_with_every_repeat():
    assert repeated.rows([figure(25, 100, 30)]) == [("showing it", "0.60", "0.50 2.00 0.60", "not settled")]


def test_one_figure_that_is_missed_is_enough():
    held, unsettled, missed = figure(1), figure(1, 1, 51), figure(51)
    assert repeated.worst([held]) == "holds"
    assert repeated.worst([held, unsettled]) == "not settled"
    assert repeated.worst([unsettled, missed, held]) == "missed"


@needs_playwright
def test_repeats_of_one_thing_are_gathered_and_those_of_another_target_are_another_figure(sidebar_load):
    figures = Figures()
    figures.note("scrolling", sidebar_load.TASK, 10, "10 ms in a script")
    figures.note("scrolling", sidebar_load.FRAME, 16)
    figures.note("scrolling", sidebar_load.TASK, 20)
    assert [(one.target, one.values) for one in figures.all] == [
        (sidebar_load.TASK, [10, 20]),
        (sidebar_load.FRAME, [16]),
    ]


@needs_playwright
def test_the_file_holds_every_repeat_and_what_it_was_spent_on(sidebar_load):
    figures = Figures()
    figures.note("scrolling", sidebar_load.TASK, 100, "in a script")
    data = sidebar_load.as_data(figures, {"processor": "fake"})
    assert data["verdict"] == "missed"
    (one,) = json.loads(json.dumps(data))["figures"]
    assert (one["values"], one["ratios"], one["notes"]) == ([100], [2.0], ["in a script"])
    assert (one["target"], one["unit"], one["median_ratio"], one["verdict"]) == (50, "ms", 2.0, "missed")


@needs_playwright
def test_the_text_says_each_target_and_what_the_verdicts_mean(sidebar_load):
    figures = Figures()
    for target in sidebar_load.TARGETS:
        figures.note("what was measured", target, target.most / 2)
    text = sidebar_load.as_text(figures)
    assert "from JupyterLab's being ready at most 2 s:" in text
    assert text.count("0.50  0.50  holds") == len(sidebar_load.TARGETS)
    assert text.endswith("holds: every repeat is within the target.")


@needs_playwright
def test_of_a_saved_notebook_tasks_count_that_our_script_or_react_began(sidebar_load):
    def task(*scripts):
        return Task(0.01, 0.0, 0.02, scripts)

    assert sidebar_load.is_ours(task("look of lab/extensions/jupyter-mlgpu/static/651.js", "another"))
    assert sidebar_load.is_ours(task("work of static/lab/5098.js"))
    assert not sidebar_load.is_ours(task("open of static/lab/1.js", "x of lab/extensions/jupyter-mlgpu/1.js"))
    assert not sidebar_load.is_ours(task())


def test_a_task_says_its_times_and_the_first_of_its_scripts():
    told = str(Task(0.012, 0.002, 0.034, ("a of x.js", "b of y.js", "c of z.js", "d of w.js")))
    assert told == (
        "12 ms of CPU time, 2 ms of it for garbage (34 ms by the clock) in a of x.js, b of y.js, c of z.js"
    )
