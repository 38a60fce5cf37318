"""What can stand after %%mlc_trace, and what becomes of the cell."""

import pytest

from jupyter_mlgpu.jupyter.notebook.cell.transform import drop_trace_line as drop_trace_line_of
from jupyter_mlgpu.jupyter.notebook.magics.ops_command import (
    OperationsRequest,
    parse_request,
    request_over_cell,
)
from jupyter_mlgpu.record.errors import UsageError


@pytest.mark.parametrize(
    ("words", "means"),
    [
        ("", OperationsRequest()),
        ("  # slow", OperationsRequest()),
        (" --ops", OperationsRequest(ops=True)),
        (" --ops --repeat 5", OperationsRequest(ops=True, repeat=5)),
        (" --repeat 5 --ops  # five", OperationsRequest(ops=True, repeat=5)),
        (" --ops --shapes", OperationsRequest(ops=True, shapes=True)),
    ],
)
def test_words_that_are_known(words, means):
    assert parse_request(words) == means


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (" --opps", "Unknown word '--opps'"),
        (" on", "Unknown word 'on'"),
        (" --ops 5", "Unknown word '5'"),
        (" --repeat 5", "--repeat requires --ops"),
        (" --shapes", "--shapes requires --ops"),
        (" --ops --repeat", "--repeat needs a value"),
        (" --ops --repeat 0", "not '0'"),
        (" --ops --repeat -1", "not '-1'"),
        (" --ops --repeat many", "not 'many'"),
        (" --ops --repeat 1001", "not '1001'"),
    ],
)
def test_words_that_are_refused_before_anything_has_run(words, said):
    with pytest.raises(UsageError, match="The cell was not run") as refused:
        parse_request(words)
    assert said in str(refused.value)


def test_only_a_cells_first_line_asks():
    assert request_over_cell("\n%%mlc_trace --ops\nx") == OperationsRequest(ops=True)
    assert request_over_cell("x\n%%mlc_trace --ops") is None
    assert request_over_cell("%%mlc_trace --bogus\nx") is None


def drop_trace_line(lines, ours=lambda magic: True):
    return drop_trace_line_of(lines, ours)


def test_the_line_becomes_a_comment_so_that_tracebacks_keep_their_numbers():
    assert drop_trace_line(["%%mlc_trace --ops\n", "1 / 0\n"]) == ["# %%mlc_trace --ops\n", "1 / 0\n"]


def test_another_cell_magic_comes_first_then():
    assert drop_trace_line(["%%mlc_trace --ops\n", "%%time\n", "x\n"]) == ["%%time\n", "x\n"]


def test_a_cell_that_repeats_is_left_to_the_magic():
    lines = ["%%mlc_trace --ops --repeat 2\n", "x\n"]
    assert drop_trace_line(lines) == lines


def test_words_that_are_refused_end_the_cell_before_its_first_line():
    changed = drop_trace_line(["%%mlc_trace --opps\n", "%%time\n", "x\n"])
    assert changed[0] == "%mlc_trace --opps --this-cell\n"
    assert changed[1].startswith("get_ipython().run_cell_magic('time'")


def test_a_cell_of_another_magic_is_left_alone():
    lines = ["%%mlc_traced\n", "x\n"]
    assert drop_trace_line(lines) == lines
