"""A record says which lines of its output are native, and tells nothing that only our profiler brought."""

from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.capture.line_count import MOST_RUNS, LineCount
from jupyter_mlgpu.jupyter.notebook.capture.native_lines import annotate_native_output
from jupyter_mlgpu.record.native import StreamLines
from jupyter_mlgpu.record.record import PROFILE_READ, Fact, LogLine, Record
from jupyter_mlgpu.testing import example_record

SHOWN = {"stderr": StreamLines(3, ((0, 2),))}


def log_line(text: str, id: str | None, verdict: str) -> LogLine:
    return LogLine(text, id, verdict, None, None, {}, 1, "stderr", None, False)


def counted(*written: tuple[str, str]) -> StreamLines | None:
    count = LineCount()
    for who, text in written:
        getattr(count, who)(text)
    return count.lines()


def test_native_lines_are_told_apart_from_prints_in_lines():
    assert counted(("native", "one\ntwo\n"), ("printed", "one"), ("printed", "\n"), ("native", "one\n")) == (
        StreamLines(4, ((0, 2), (3, 1)))
    )


def test_native_lines_that_come_in_pieces_are_whole_lines_of_one_run():
    assert counted(("native", "on"), ("native", "e\ntw"), ("native", "o\n")) == StreamLines(2, ((0, 2),))


def test_a_line_that_a_print_began_is_no_native_one_and_neither_is_one_that_a_print_ended():
    assert counted(("printed", "loss "), ("native", "one\ntwo\n")) == StreamLines(2, ((1, 1),))
    assert counted(("native", "one\nbegun"), ("printed", " and ended\n")) == StreamLines(2, ((0, 1),))


def test_what_is_cleared_or_takes_turns_too_often_is_not_known():
    count = LineCount()
    count.native("one\n")
    count.forget()
    assert count.lines() is None
    count.begin()
    assert count.lines() is None, "nothing native was written yet"
    for _ in range(MOST_RUNS + 1):
        count.printed("x\n")
        count.native("y\n")
    assert count.lines() is None


def test_a_record_says_what_its_quiet_messages_are_of_and_which_of_them_name_a_device():
    record = example_record().with_logs(
        [
            log_line("Metal device set to: Apple M1", "metal-device-set", "info"),
            log_line("TensorFlow binary is optimized", "cpu-instructions-used", "harmless"),
            log_line("frobnicating 7 gadgets", None, "unknown"),
        ]
    )
    native = annotate_native_output(record, SHOWN).native
    assert native is not None
    assert native.naming_devices == ("metal-device-set",)
    assert native.families == ("tensorflow",)
    assert native.streams == SHOWN
    assert Record.from_json(annotate_native_output(record, SHOWN).to_json()).native == native


def test_lines_of_our_own_profiler_are_no_notes_of_the_record():
    session = log_line("Profiler session started.", "tensorboard-profiler-session", "info")
    record = example_record().with_logs([session, log_line("frobnicating", None, "unknown")])
    ours = replace(record, facts={f"tensorflow{PROFILE_READ}": Fact(0.1, "time.perf_counter")})
    assert [line.text for line in annotate_native_output(ours, SHOWN).logs] == ["frobnicating"]
    assert annotate_native_output(ours, SHOWN).native.ours == ("Profiler session started.",)
    assert annotate_native_output(record, SHOWN).logs == record.logs, "the user's own profiler is the user's"
