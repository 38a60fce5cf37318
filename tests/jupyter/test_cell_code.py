"""What the first lines of a cell tell before it runs."""

import pytest

from jupyter_mlgpu.jupyter.notebook.cell_code import refused


@pytest.mark.parametrize(
    "code",
    [
        "%%mlc_race --ovr n=1\nx",
        "\n%%mlc_race --repeats many  # often\nx",
        "%%mlc_trace\n%%mlc_race --ovr n=1\nx",
        "%%mlc_trace --opps\nx",
        "%%mlc_trace --repeat 3\nx",
    ],
)
def test_words_that_nobody_knows_are_refused_before_anything_of_the_cell_runs(code):
    assert refused(code, lambda magic: True)


def test_words_over_a_cell_of_a_users_own_magic_are_theirs():
    assert not refused("%%mlc_trace --opps\nx", lambda magic: False)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "x",
        "%%mlc_race\nx",
        "%%mlc_race --over n=1,2  # two\nx",
        "%%mlc_race --repeats $count\nx",
        "%%mlc_race --repeats {count}\nx",
        "%%mlc_trace --ops --repeat 3\nx",
        "%%mlc_trace --items {len(x)}\nx",
        "%%mlc_traced --opps\nx",
        "x\n%%mlc_race --ovr n=1",
    ],
)
def test_words_that_are_known_or_stand_in_variables_are_not(code):
    assert not refused(code, lambda magic: True)
