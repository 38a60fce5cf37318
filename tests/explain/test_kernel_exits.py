"""Why a kernel died: the cause and how sure it is, from facts alone, and the sentence that says it."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.exits.exit_cause import DEVICE_LOST, DEVICE_MEMORY
from jupyter_mlgpu.explain.exits.kernel_exit import post_mortem
from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.record.flight.exit_report import ExitReport
from jupyter_mlgpu.record.flight.flight_record import (
    At,
    CellName,
    FlightRecord,
    KernelState,
    MemorySample,
    OomKills,
    SizeRun,
    Sizes,
)

GIB = 2**30
NOW = 1_800_000_000.0
CHECK = "2026-11-24 08:00:00.123456: F external/xla/xla/pjrt/client.cc:85] Check failed: status == OK"


def sample(used=4.0, kills=2, container=None, of=None):
    return MemorySample(
        NOW,
        GIB,
        int(used * GIB),
        16 * GIB,
        None if of is None else int(used * GIB),
        None if of is None else of * GIB,
        oom_kills=OomKills(container, kills),
    )


def flight_record(seen=None, phase="running", sequence=7, count=7, lines=(), step=0):
    at = At(phase, NOW - 12, sequence, count)
    return FlightRecord(at, KernelState(1, 4711, NOW - 100, "run", "host", NOW - 90, None, seen, step, lines))


def exit_report(status=-9, kills=None, container=None, **more):
    return ExitReport(
        **{"pid": 4711, "status": status, "at": NOW + 0.5, "oom_kills": OomKills(container, kills), **more}
    )


def told(kernel, end):
    kernel_exit = post_mortem(kernel, end)
    return None if kernel_exit is None else (kernel_exit.cause, kernel_exit.confidence)


# SIGKILL: who sent it?


@pytest.mark.parametrize(
    ("seen", "end", "expected"),
    [
        (sample(), exit_report(kills=2), ("killed", "likely")),
        (sample(15.5), exit_report(kills=2), ("killed", "open")),
        (sample(15.5), exit_report(kills=3), ("machine_memory", "likely")),
        (sample(3.9, of=4, container=0), exit_report(kills=3, container=1), ("container_memory", "sure")),
        (sample(1.0, of=4, container=0), exit_report(kills=3, container=1), ("container_memory", "sure")),
        (sample(1.0, of=4, container=0), exit_report(kills=3, container=0), ("killed", "likely")),
        (sample(1.0, container=0), exit_report(kills=3, container=1), ("machine_memory", "likely")),
        (sample(15.0, container=0), exit_report(kills=3, container=1), ("machine_memory", "sure")),
        (sample(15.8, of=32, container=0), exit_report(kills=3, container=1), ("machine_memory", "sure")),
        (sample(), exit_report(kills=3, named="machine"), ("machine_memory", "sure")),
        (sample(15), exit_report(kills=3, named="container"), ("container_memory", "sure")),
        (None, exit_report(kills=3, named="container"), ("container_memory", "sure")),
        (sample(kills=None), exit_report(), ("killed", "likely")),
        (sample(11, kills=None), exit_report(), ("unknown", "open")),
        (sample(15, kills=None), exit_report(), ("machine_memory", "likely")),
        (sample(3.8, of=4, kills=None), exit_report(), ("container_memory", "likely")),
        (None, exit_report(), ("unknown", "open")),
        (None, exit_report(kills=3, oom_before=OomKills(None, 3)), ("killed", "likely")),
        (None, exit_report(kills=4, oom_before=OomKills(None, 3)), ("machine_memory", "likely")),
    ],
)
def test_a_kill_is_out_of_memory_only_where_something_says_so(seen, end, expected):
    assert told(flight_record(seen), end) == expected


def test_what_the_group_counted_long_after_the_last_look_may_have_been_another_process():
    seen = sample(3.9, of=4, container=0)
    assert told(flight_record(seen), exit_report(container=1, at=NOW + 600)) == ("container_memory", "likely")


def test_a_step_larger_than_what_was_left_makes_it_possible():
    assert told(flight_record(sample(12, kills=None), step=6 * GIB), exit_report()) == (
        "machine_memory",
        "open",
    )


def test_a_signal_alone_is_never_surely_out_of_memory():
    for used in (1, 8, 12, 15, 15.99):
        for kills in (None, 2):
            cause, confidence = told(flight_record(sample(used, kills=kills)), exit_report(kills=kills))
            assert (cause, confidence) != ("machine_memory", "sure")


# Other ends.


@pytest.mark.parametrize("number", [-11, -7, -4, -8, -31, -5])
def test_what_the_processor_refuses_is_a_crash_and_sure_where_the_log_names_it(number):
    assert told(flight_record(), exit_report(number)) == ("crash", "likely")
    assert told(flight_record(), exit_report(number, named="crash")) == ("crash", "sure")


def test_an_abort_is_sure_where_native_code_has_said_last_that_it_gives_up():
    assert told(flight_record(), exit_report(-6)) == ("abort", "likely")
    assert told(flight_record(), exit_report(-6, lines=(CHECK,))) == ("abort", "sure")
    assert told(flight_record(), exit_report(-6, lines=(CHECK, "I was here"))) == ("abort", "likely")


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("RuntimeError: [METAL] Command buffer execution failed: Insufficient Memory", "device_memory"),
        (
            "could not synchronize on CUDA context: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal access",
            "device_lost",
        ),
    ],
)
def test_an_abort_after_a_message_of_the_device_is_the_devices(line, cause):
    assert told(flight_record(), exit_report(-6, lines=(line,))) == (cause, "likely")
    assert told(flight_record(), exit_report(0, lines=(line,))) == ("exit", "sure"), (
        "an exit in good order is its own"
    )


@pytest.mark.parametrize("status", [0, 3, 137, 139])
def test_an_exit_status_is_that_of_its_own_code(status):
    assert told(flight_record(), exit_report(status)) == ("exit", "sure")


def test_a_shell_around_the_kernel_tells_a_signal_by_its_own_status():
    assert told(flight_record(sample()), exit_report(137, kills=2, pid=99)) == ("killed", "likely")
    assert told(flight_record(), exit_report(139, pid=99)) == ("crash", "likely")
    assert told(flight_record(), exit_report(3, pid=99)) == ("exit", "likely")


@pytest.mark.parametrize("number", [-15, -1, -2, -24, -64])
def test_other_signals_come_from_outside(number):
    assert told(flight_record(sample()), exit_report(number)) == ("killed", "likely")


@pytest.mark.parametrize("status", [0, -9, -15, -11])
def test_an_end_that_somebody_asked_for_is_no_death(status):
    assert told(flight_record(sample()), exit_report(status, asked=True)) is None
    assert told(flight_record(sample(), phase="ended"), exit_report(status)) is None


# Where nobody saw the end.


def unseen(**more):
    return ExitReport(pid=4711, **more)


def test_without_an_exit_status_nothing_is_said_unless_something_says_so():
    assert told(flight_record(sample(15.9)), unseen()) is None
    assert told(None, unseen()) is None
    assert told(flight_record(sample()), unseen(named="machine")) == ("machine_memory", "likely")
    assert told(flight_record(sample(3, of=4, container=0)), unseen(oom_kills=OomKills(1, 3))) == (
        "container_memory",
        "likely",
    )
    assert told(flight_record(lines=(CHECK,)), unseen()) == ("abort", "likely")
    assert told(flight_record(phase="exited"), unseen()) == ("exit", "sure")


# What is said.


def said(kernel, end):
    return post_mortem(kernel, end).sentence


def test_the_sentence_has_the_cell_its_time_and_the_memory():
    assert said(flight_record(sample(15.2, of=16, container=0)), exit_report(container=1)) == (
        "The kernel died in [7] after 12.5 s with 15.2 GiB of 16 GiB in use: out of container memory."
    )
    assert said(flight_record(sample(15.2, kills=None)), exit_report()) == (
        "The kernel died in [7] after 12.5 s with 15.2 GiB of 16 GiB in use: likely out of memory."
    )


@pytest.mark.parametrize(
    ("kernel", "place"),
    [
        (flight_record(count=None), "in a cell after 12.5 s"),
        (flight_record(phase="idle"), "while no cell was running"),
        (flight_record(phase="starting", sequence=0, count=None), "before its first cell"),
        (flight_record(phase="exited"), "in [7]"),
        (None, "at an unknown time"),
    ],
)
def test_where_it_died_is_told_as_far_as_it_is_known(kernel, place):
    assert said(kernel, exit_report(3)) == f"The kernel died {place}: its code exited with status 3."


def test_under_the_cell_that_ran_it_reads_as_having_died_here():
    assert post_mortem(flight_record(sample(15.2, kills=None)), exit_report()).here == (
        "The kernel died here after 12.5 s with 15.2 GiB of 16 GiB in use: likely out of memory."
    )
    assert post_mortem(flight_record(phase="exited"), exit_report(3)).here == (
        "The kernel died here: its code exited with status 3."
    )
    for kernel in (flight_record(phase="idle"), flight_record(phase="starting", sequence=0), None):
        assert post_mortem(kernel, exit_report(3)).here is None


def test_a_clock_that_was_set_back_tells_no_time():
    assert said(flight_record(), exit_report(3, at=NOW - 500)).startswith("The kernel died in [7]: ")


def test_a_note_has_the_last_line_and_what_to_do():
    kernel_exit = post_mortem(flight_record(), exit_report(-6, lines=("a line before", CHECK)))
    assert f"Its last line was “{CHECK}”." in kernel_exit.note
    assert kernel_exit.note.endswith(kernel_exit.next)
    assert [line.text for line in kernel_exit.lines] == ["a line before", CHECK]


def test_the_messages_that_name_a_cause_are_in_the_catalogue():
    assert set(Catalogue.load().definitions) >= DEVICE_LOST | DEVICE_MEMORY


# Which size would have fitted.


def sized(size, *runs, used=15.5, process=15.0, name="rows", sequence=7):
    """A kernel out of a machine's 16 GiB, whose cell had run before with sizes that took these GiB."""
    seen = replace(sample(used), process=int(process * GIB))
    sizes = Sizes(size, tuple(SizeRun(one, int(peak * GIB)) for one, peak in runs), name)
    kernel = flight_record(seen)
    return replace(kernel, state=replace(kernel.state, cell=CellName(sequence, "fit(x)", sizes)))


def size_told(kernel, end=None):
    kernel_exit = post_mortem(kernel, end or exit_report(kills=3))
    return kernel_exit.sentence.partition(": likely out of memory.")[2].strip() or kernel_exit.why_no_size


def test_a_size_that_would_have_fitted_is_told_with_the_two_it_rests_on():
    assert size_told(sized(128, (32, 4.0), (64, 8.0))) == (
        "With rows = 64 it needed 4 GiB more than with 32; 96 would fit if memory grows in proportion."
    )
    assert size_told(sized(128, (32, 4.0), (64, 8.0), name=None)).startswith(
        "With 64 it needed 4 GiB more than"
    )
    kernel_exit = post_mortem(sized(128, (32, 4.0), (64, 8.0)), exit_report(kills=3))
    assert kernel_exit.why_no_size is None
    assert "96 would fit" in kernel_exit.sentence, "in the sidebar and `jupyter mlgpu run`"
    assert "96 would fit" in kernel_exit.note, "in the fresh kernel's first receipt"
    assert "96" in str(kernel_exit.to_json()["sentence"])


def test_where_nothing_between_fits_the_largest_that_did_is_told():
    assert size_told(sized(68, (32, 7.0), (64, 13.5))) == (
        "With rows = 64 it needed 6.5 GiB more than with 32; 64 is the largest size that fit."
    )


def test_several_runs_give_several_lines_and_the_highest_has_to_fit():
    assert size_told(sized(128, (32, 4.0), (64, 8.0), (64, 9.5))) == (
        "With rows = 64 it needed 4.75 GiB more than with 32; 64 is the largest size that fit."
    )


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (sized(96, (32, 4.0)), "Two sizes are needed, the smaller one run first; found 32."),
        (sized(96, (64, 8.0), (32, 8.0)), "Two sizes are needed, the smaller one run first; found 64."),
        (sized(48, (32, 4.0), (64, 8.0)), "64 had succeeded before."),
        (sized(96, (32, 4.0), (64, 4.0)), "Its peak memory did not grow over the sizes 32 and 64."),
        (
            sized(96, (32, 1.0), (64, 1.5)),
            "Judging by its earlier runs, 96 should have fit: something else took memory.",
        ),
        (sized(96, (32, 4.0), (64, 8.0), sequence=6), "The running cell had not been sampled."),
        (flight_record(sample(15.5)), "The running cell had not been sampled."),
    ],
)
def test_where_no_size_is_told_there_is_a_reason(kernel, why):
    assert size_told(kernel) == why


def test_without_sizes_the_reason_is_that_no_such_run_was_seen():
    kernel = flight_record(sample(15.5))
    kernel = replace(kernel, state=replace(kernel.state, cell=CellName(7, "fit(x)")))
    assert size_told(kernel) == "No earlier run of the same code with just one number changed is known."


def test_another_death_says_nothing_of_sizes():
    kernel_exit = post_mortem(sized(128, (32, 4.0), (64, 8.0)), exit_report(-11))
    assert kernel_exit.why_no_size is None
    assert "With rows" not in kernel_exit.sentence
