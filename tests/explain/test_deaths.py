"""Why a kernel died: the cause and how sure it is, from facts alone, and the sentence that says it."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.deaths.cause import DEVICE_LOST, DEVICE_MEMORY
from jupyter_mlgpu.explain.deaths.death import post_mortem
from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.record.accounts.account import (
    Account,
    At,
    CellName,
    KernelState,
    Look,
    OomKills,
    SizeRun,
    Sizes,
)
from jupyter_mlgpu.record.accounts.ending import Ending

GIB = 2**30
NOW = 1_800_000_000.0
CHECK = "2026-11-24 08:00:00.123456: F external/xla/xla/pjrt/client.cc:85] Check failed: status == OK"


def look(used=4.0, kills=2, container=None, of=None):
    return Look(
        NOW,
        GIB,
        int(used * GIB),
        16 * GIB,
        None if of is None else int(used * GIB),
        None if of is None else of * GIB,
        oom_kills=OomKills(container, kills),
    )


def account(seen=None, phase="running", sequence=7, count=7, lines=(), step=0):
    at = At(phase, NOW - 12, sequence, count)
    return Account(at, KernelState(1, 4711, NOW - 100, "run", "host", NOW - 90, None, seen, step, lines))


def ending(status=-9, kills=None, container=None, **more):
    return Ending(
        **{"pid": 4711, "status": status, "at": NOW + 0.5, "oom_kills": OomKills(container, kills), **more}
    )


def told(kernel, end):
    death = post_mortem(kernel, end)
    return None if death is None else (death.cause, death.confidence)


# SIGKILL: who sent it?


@pytest.mark.parametrize(
    ("seen", "end", "expected"),
    [
        (look(), ending(kills=2), ("killed", "likely")),
        (look(15.5), ending(kills=2), ("killed", "open")),
        (look(15.5), ending(kills=3), ("machine_memory", "likely")),
        (look(3.9, of=4, container=0), ending(kills=3, container=1), ("container_memory", "sure")),
        (look(1.0, of=4, container=0), ending(kills=3, container=1), ("container_memory", "sure")),
        (look(1.0, of=4, container=0), ending(kills=3, container=0), ("killed", "likely")),
        (look(1.0, container=0), ending(kills=3, container=1), ("machine_memory", "likely")),
        (look(15.0, container=0), ending(kills=3, container=1), ("machine_memory", "sure")),
        (look(15.8, of=32, container=0), ending(kills=3, container=1), ("machine_memory", "sure")),
        (look(), ending(kills=3, named="machine"), ("machine_memory", "sure")),
        (look(15), ending(kills=3, named="container"), ("container_memory", "sure")),
        (None, ending(kills=3, named="container"), ("container_memory", "sure")),
        (look(kills=None), ending(), ("killed", "likely")),
        (look(11, kills=None), ending(), ("unknown", "open")),
        (look(15, kills=None), ending(), ("machine_memory", "likely")),
        (look(3.8, of=4, kills=None), ending(), ("container_memory", "likely")),
        (None, ending(), ("unknown", "open")),
        (None, ending(kills=3, oom_before=OomKills(None, 3)), ("killed", "likely")),
        (None, ending(kills=4, oom_before=OomKills(None, 3)), ("machine_memory", "likely")),
    ],
)
def test_a_kill_is_out_of_memory_only_where_something_says_so(seen, end, expected):
    assert told(account(seen), end) == expected


def test_what_the_group_counted_long_after_the_last_look_may_have_been_another_process():
    seen = look(3.9, of=4, container=0)
    assert told(account(seen), ending(container=1, at=NOW + 600)) == ("container_memory", "likely")


def test_a_step_larger_than_what_was_left_makes_it_possible():
    assert told(account(look(12, kills=None), step=6 * GIB), ending()) == ("machine_memory", "open")


def test_a_signal_alone_is_never_surely_out_of_memory():
    for used in (1, 8, 12, 15, 15.99):
        for kills in (None, 2):
            cause, confidence = told(account(look(used, kills=kills)), ending(kills=kills))
            assert (cause, confidence) != ("machine_memory", "sure")


# Other ends.


@pytest.mark.parametrize("number", [-11, -7, -4, -8, -31, -5])
def test_what_the_processor_refuses_is_a_crash_and_sure_where_the_log_names_it(number):
    assert told(account(), ending(number)) == ("crash", "likely")
    assert told(account(), ending(number, named="crash")) == ("crash", "sure")


def test_an_abort_is_sure_where_native_code_has_said_last_that_it_gives_up():
    assert told(account(), ending(-6)) == ("abort", "likely")
    assert told(account(), ending(-6, lines=(CHECK,))) == ("abort", "sure")
    assert told(account(), ending(-6, lines=(CHECK, "I was here"))) == ("abort", "likely")


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
    assert told(account(), ending(-6, lines=(line,))) == (cause, "likely")
    assert told(account(), ending(0, lines=(line,))) == ("exit", "sure"), "an exit in good order is its own"


@pytest.mark.parametrize("status", [0, 3, 137, 139])
def test_an_exit_status_is_that_of_its_own_code(status):
    assert told(account(), ending(status)) == ("exit", "sure")


def test_a_shell_around_the_kernel_tells_a_signal_by_its_own_status():
    assert told(account(look()), ending(137, kills=2, pid=99)) == ("killed", "likely")
    assert told(account(), ending(139, pid=99)) == ("crash", "likely")
    assert told(account(), ending(3, pid=99)) == ("exit", "likely")


@pytest.mark.parametrize("number", [-15, -1, -2, -24, -64])
def test_other_signals_come_from_outside(number):
    assert told(account(look()), ending(number)) == ("killed", "likely")


@pytest.mark.parametrize("status", [0, -9, -15, -11])
def test_an_end_that_somebody_asked_for_is_no_death(status):
    assert told(account(look()), ending(status, asked=True)) is None
    assert told(account(look(), phase="ended"), ending(status)) is None


# Where nobody saw the end.


def unseen(**more):
    return Ending(pid=4711, **more)


def test_without_an_exit_status_nothing_is_said_unless_something_says_so():
    assert told(account(look(15.9)), unseen()) is None
    assert told(None, unseen()) is None
    assert told(account(look()), unseen(named="machine")) == ("machine_memory", "likely")
    assert told(account(look(3, of=4, container=0)), unseen(oom_kills=OomKills(1, 3))) == (
        "container_memory",
        "likely",
    )
    assert told(account(lines=(CHECK,)), unseen()) == ("abort", "likely")
    assert told(account(phase="exited"), unseen()) == ("exit", "sure")


# What is said.


def said(kernel, end):
    return post_mortem(kernel, end).sentence


def test_the_sentence_has_the_cell_its_time_and_the_memory():
    assert said(account(look(15.2, of=16, container=0)), ending(container=1)) == (
        "The kernel died in [7] after 12.5 s with 15.2 GiB of 16 GiB in use: out of container memory."
    )
    assert said(account(look(15.2, kills=None)), ending()) == (
        "The kernel died in [7] after 12.5 s with 15.2 GiB of 16 GiB in use: likely out of memory."
    )


@pytest.mark.parametrize(
    ("kernel", "place"),
    [
        (account(count=None), "in a cell after 12.5 s"),
        (account(phase="idle"), "while no cell was running"),
        (account(phase="starting", sequence=0, count=None), "before its first cell"),
        (account(phase="exited"), "in [7]"),
        (None, "at an unknown time"),
    ],
)
def test_where_it_died_is_told_as_far_as_it_is_known(kernel, place):
    assert said(kernel, ending(3)) == f"The kernel died {place}: its code exited with status 3."


def test_a_clock_that_was_set_back_tells_no_time():
    assert said(account(), ending(3, at=NOW - 500)).startswith("The kernel died in [7]: ")


def test_a_note_has_the_last_line_and_what_to_do():
    death = post_mortem(account(), ending(-6, lines=("a line before", CHECK)))
    assert f"Its last line was “{CHECK}”." in death.note
    assert death.note.endswith(death.next)
    assert [line.text for line in death.lines] == ["a line before", CHECK]


def test_the_messages_that_name_a_cause_are_in_the_catalogue():
    assert set(Catalogue.load().definitions) >= DEVICE_LOST | DEVICE_MEMORY


# Which size would have fitted.


def sized(size, *runs, used=15.5, process=15.0, name="rows", sequence=7):
    """A kernel out of a machine's 16 GiB, whose cell had run before with sizes that took these GiB."""
    seen = replace(look(used), process=int(process * GIB))
    sizes = Sizes(size, tuple(SizeRun(one, int(peak * GIB)) for one, peak in runs), name)
    kernel = account(seen)
    return replace(kernel, state=replace(kernel.state, cell=CellName(sequence, "fit(x)", sizes)))


def size_told(kernel, end=None):
    death = post_mortem(kernel, end or ending(kills=3))
    return death.sentence.partition(": likely out of memory.")[2].strip() or death.why_no_size


def test_a_size_that_would_have_fitted_is_told_with_the_two_it_rests_on():
    assert size_told(sized(128, (32, 4.0), (64, 8.0))) == (
        "With rows = 64 it needed 4 GiB more than with 32; 96 would fit if memory grows in proportion."
    )
    assert size_told(sized(128, (32, 4.0), (64, 8.0), name=None)).startswith(
        "With 64 it needed 4 GiB more than"
    )
    death = post_mortem(sized(128, (32, 4.0), (64, 8.0)), ending(kills=3))
    assert death.why_no_size is None
    assert "96 would fit" in death.sentence, "in the sidebar and `jupyter mlgpu run`"
    assert "96 would fit" in death.note, "in the fresh kernel's first receipt"
    assert "96" in str(death.to_json()["sentence"])


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
        (account(look(15.5)), "The running cell had not been sampled."),
    ],
)
def test_where_no_size_is_told_there_is_a_reason(kernel, why):
    assert size_told(kernel) == why


def test_without_sizes_the_reason_is_that_no_such_run_was_seen():
    kernel = account(look(15.5))
    kernel = replace(kernel, state=replace(kernel.state, cell=CellName(7, "fit(x)")))
    assert size_told(kernel) == "No earlier run of the same code with just one number changed is known."


def test_another_death_says_nothing_of_sizes():
    death = post_mortem(sized(128, (32, 4.0), (64, 8.0)), ending(-11))
    assert death.why_no_size is None
    assert "With rows" not in death.sentence
