"""PyTorch's log of a Mac's GPU as a table. The lines are made after PyTorch's source; none is from a Mac."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.logs import mps_profile
from jupyter_mlgpu.jupyter.notebook.cell.record_stages import with_mps_log
from jupyter_mlgpu.testing import example_record

KERNEL = (
    "aten::add_dense:MPS:Float[64, 256]:MPS:Float[64, 256] (id=K7, run={run}, gpu={gpu} ms, cpu=0.005 ms)"
)
GRAPH = "aten::mm_out_mps_impl:Float32[64,256]:Float32[256,10] (id=G2, run=1, gpu=0.400 ms, cpu=0.011 ms)"
BLIT = "BlitCopySync: MPS:Float[64, 10] --> CPU:Float[64, 10] (len=2.50 KB, gpu=0.009 ms, cpu=0.002 ms)"
MEMORY = "MemCopy: CPU:Float[2] --> MPS:0x10a2b3c40 (len=8 bytes, cpu=0.003 ms)"
FALLBACK = (
    "CPU Fallback::aten::linalg_svd:MPS:Float[9, 9] (id=1, run=1, CopyOverhead=324 bytes, cpu=1.250 ms)"
)
APART = {"PYTORCH_MPS_LOG_PROFILE_INFO": "391", "PYTORCH_MPS_TRACE_SIGNPOSTS": "4"}


def table(*lines, environ=APART):
    seen = mps_profile.read(lines, environ)
    return {
        row.name: (row.type, row.device, row.count, pytest.approx(row.self_time, abs=1e-12))
        for row in seen.ops
    }


def test_kernels_graphs_copies_and_fallbacks_are_rows_of_their_own():
    lines = [
        KERNEL.format(run=1, gpu="0.013"),
        KERNEL.format(run=2, gpu="0.020"),
        GRAPH,
        BLIT,
        MEMORY,
        FALLBACK,
    ]
    assert table(*lines) == {
        "aten::linalg_svd": ("CPU fallback", "host", 1, 0.00125),
        "aten::mm_out_mps_impl": ("graph", "gpu:0", 1, 0.0004),
        "aten::add_dense": ("kernel", "gpu:0", 2, 0.000033),
        "BlitCopySync MPS to CPU": ("copy", "gpu:0", 1, 0.000009),
        "MemCopy CPU to MPS": ("copy", "host", 1, 0.000003),
    }


def test_the_table_says_that_it_is_pytorchs_own_log_and_whose_time_it_is():
    seen = mps_profile.read([GRAPH, FALLBACK], APART)
    assert [(row.plane, row.profiler) for row in seen.ops] == [
        ("host", "from PyTorch's own MPS log, CPU time"),
        ("device", "from PyTorch's own MPS log, GPU time"),
    ]


def test_shares_are_of_the_gpus_time_where_each_operation_has_a_buffer_of_its_own():
    seen = mps_profile.read([KERNEL.format(run=1, gpu="0.100"), GRAPH], APART)
    assert [round(row.share, 6) for row in seen.ops] == [0.8, 0.2]
    assert seen.notes == ()


def test_where_operations_share_a_buffer_there_are_no_shares_and_a_sentence_says_why():
    seen = mps_profile.read([KERNEL.format(run=1, gpu="0.100"), GRAPH], {mps_profile.VARIABLE: "391"})
    assert [row.share for row in seen.ops] == [None, None]
    (said,) = seen.notes
    assert "may be counted more than once" in said
    assert "PYTORCH_MPS_TRACE_SIGNPOSTS=4" in said


def test_without_the_flag_that_keeps_scheduling_apart_the_times_hold_it_and_say_so():
    line = "aten::add_dense (id=K7, run=1, gpu=0.018 ms)"
    seen = mps_profile.read([line], {**APART, mps_profile.VARIABLE: "0x87"})
    assert seen.ops[0].self_time == pytest.approx(18e-6)
    assert any("include scheduling" in note for note in seen.notes)


@pytest.mark.parametrize("value", ["8", "1", "7", "0", "many", "384"])
def test_flags_that_print_no_times_give_no_rows_but_what_to_set(value):
    seen = mps_profile.read(["aten::add_dense (id=K7, run=1)"], {mps_profile.VARIABLE: value})
    assert seen.ops == ()
    assert f"{mps_profile.VARIABLE}={value} prints no times while a cell runs: set it to 391" in seen.notes[0]


def test_a_call_whose_time_is_not_told_is_counted_and_not_taken_for_0():
    seen = mps_profile.read(["aten::add_dense (id=K7, run=1)", GRAPH], APART)
    assert [row.name for row in seen.ops] == ["aten::mm_out_mps_impl"]
    assert "gives no time for 1 calls" in seen.notes[0]


def test_the_scheduling_of_a_call_whose_gpu_time_is_not_told_is_not_taken_for_it():
    seen = mps_profile.read(
        ["aten::add_dense (id=K7, run=1, cpu=0.005 ms)", BLIT.replace("gpu=0.009 ms, ", "")], APART
    )
    assert seen.ops == ()
    assert any("gives no time for 2 calls" in note for note in seen.notes)


def test_other_lines_are_passed_over():
    others = [
        "",
        "W0000 aten::add was slow",
        "aten::add_dense (id=K7, run=1, gpu=0.018 ms",
        " K7      2          0.005           0.013          0.026       add_dense:MPS:Float[2, 3]",
        "There are no copies logged for profiling",
        "aten::" * 1_000_000 + "(id=",
    ]
    assert list(table(*others, GRAPH)) == ["aten::mm_out_mps_impl"]


def test_a_cell_of_which_nothing_was_printed_says_that_the_variable_may_have_come_too_late():
    seen = mps_profile.read(["hello"], APART)
    assert seen.ops == ()
    assert "before PyTorch first uses the GPU" in seen.notes[0]


def test_the_rows_are_bounded_and_what_is_left_out_is_counted():
    lines = [f"aten::op{number} (id=K{number}, run=1, gpu=0.{number:03} ms)" for number in range(1, 400)]
    seen = mps_profile.read(lines, APART)
    assert len(seen.ops) == mps_profile.ROWS
    assert seen.ops[0].name == "aten::op399"
    assert seen.notes == ("The 99 operations with the least time in PyTorch's MPS log are left out.",)


class Lines:
    """A capture that has kept these bytes of each cell."""

    def __init__(self, *lines, gone=0):
        self._data = "\n".join(lines).encode()
        self._gone = gone

    def raw(self, sequence):
        return [(sequence, "stdout", GRAPH.encode(), 0), (sequence, "stderr", self._data, self._gone)]


def record(mode="profiled", versions=(("torch", "2.13.0"),)):
    return replace(example_record(), mode=mode, ops=(), notes=(), versions=dict(versions))


def test_a_profiled_cell_takes_what_was_printed_to_standard_error():
    found = with_mps_log(record(), Lines(KERNEL.format(run=1, gpu="0.013")), APART)
    assert [(row.name, row.plane) for row in found.ops] == [("aten::add_dense", "device")]


def test_lines_that_were_let_go_are_told():
    found = with_mps_log(record(), Lines(GRAPH, gone=1234), APART)
    assert "The first 1,234 bytes" in found.notes[0]


@pytest.mark.parametrize(
    ("one", "environ"),
    [(record("light"), APART), (record(versions=()), APART), (record(), {})],
)
def test_a_light_cell_a_cell_without_pytorch_and_one_without_the_variable_stay_as_they_are(one, environ):
    assert with_mps_log(one, Lines(GRAPH), environ) is one
