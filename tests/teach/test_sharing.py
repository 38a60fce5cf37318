"""What waits is sent once, in order, bounded; whatever the other side does; and only with consent."""

import json
import os
import random
import re
import threading
import time
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.measure import runtime as kits
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.teach.commands.share import ShareCommand
from jupyter_mlgpu.teach.lessons import check
from jupyter_mlgpu.teach.lessons.exercises import exercises
from jupyter_mlgpu.teach.sharing import outbox, post, report, sender
from jupyter_mlgpu.teach.sharing.address import Address, address_of
from jupyter_mlgpu.teach.sharing.outbox import Outbox, ReportAnswer, make_report
from jupyter_mlgpu.testing import example_record
from jupyter_mlgpu.testing.sharing import FakeTeacher
from tests.support.interrupts import interrupted_at_each_line

RUN = "0" * 32


def ids(*numbers: int) -> frozenset[str]:
    return frozenset(f"{RUN}-{number}" for number in numbers)


def filled(*numbers: int) -> Outbox:
    box = Outbox(None)
    for number in numbers:
        box.add(example_record(number))
    return box


def numbers(picked: outbox.Batch) -> list[int]:
    return [one.number for one in picked.records]


# ---- the outbox


def test_what_is_acknowledged_is_not_sent_again():
    box = filled(1, 2, 3)
    sent, _ = make_report(box.pick(), 1.0)
    assert box.process_answer(sent, ReportAnswer(ids(1, 3)))
    assert numbers(box.pick()) == [2]
    box.add(example_record(1).with_note("A late line came."))
    assert numbers(box.pick()) == [2]
    assert (box.taken, box.waiting) == (2, 1)


def test_what_is_not_taken_is_kept_in_its_order():
    box = filled(1, 2)
    sent, _ = make_report(box.pick(), 1.0)
    assert not box.process_answer(sent, ReportAnswer(None, "it is away"))
    assert not box.process_answer(sent, ReportAnswer(frozenset()))
    box.add(example_record(3))
    assert numbers(box.pick()) == [1, 2, 3]


def test_an_acknowledgement_of_what_was_not_sent_changes_nothing():
    box = filled(1)
    sent, _ = make_report(box.pick(), 1.0)
    box.add(example_record(2))
    assert not box.process_answer(sent, ReportAnswer(ids(2, 77)))
    assert numbers(box.pick()) == [1, 2]


def test_what_is_refused_for_good_is_not_sent_again_and_counted():
    box = filled(1, 2)
    sent, _ = make_report(box.pick(), 1.0)
    box.add(example_record(3))
    assert box.process_answer(sent, ReportAnswer(None, "it refused a report as too large (413)", final=True))
    assert numbers(box.pick()) == [3]
    assert (box.refused, box.why_refused) == (2, "it refused a report as too large (413)")


def test_the_newest_are_kept_and_the_others_counted(monkeypatch):
    monkeypatch.setattr(outbox, "WAITING", 3)
    box = filled(1, 2, 3)
    sent, _ = make_report(box.pick(), 1.0)
    box.add(example_record(4))
    box.add(example_record(5))
    assert (numbers(box.pick()), box.left_out) == ([3, 4, 5], 2)
    # The first two had made room while they were on their way, and arrived after all.
    box.process_answer(sent, ReportAnswer(ids(1, 2, 3)))
    assert (numbers(box.pick()), box.left_out, box.taken) == ([4, 5], 0, 3)


def test_a_report_has_at_most_100_records_and_at_most_its_bytes():
    box = filled(*range(1, 121))
    assert numbers(box.pick()) == list(range(1, 101))
    many = replace(example_record(), readings=example_record().readings * 5)
    box = Outbox(None)
    for number in range(1, 101):
        box.add(replace(many, cell=replace(many.cell, sequence=number)))
    sent, body = make_report(box.pick(), 1.0)
    assert report.MAX_BYTES / 4 < len(body) <= report.MAX_BYTES
    assert [one.number for one in sent.records] == list(range(1, len(sent.records) + 1))
    assert 0 < len(sent.records) < 100


def test_a_record_made_by_something_else_is_left_where_it_is_and_ends_nothing():
    box = Outbox(None)
    box.add(example_record(run="a notebook of anna's"))
    box.add(replace(example_record(), readings=None))  # type: ignore[arg-type]
    box.add(example_record(2))
    assert (numbers(box.pick()), box.unfit) == ([2], 2)


def test_tries_of_an_exercise_are_counted_up_to_the_first_right_one():
    box = Outbox(None)
    for right in (False, False, True, False):
        box.check("convolve", right=right)
    box.check("my own exercise", right=True)
    assert box.pick().checks == (report.SharedCheck("convolve", True, 3),)
    sent, _ = make_report(box.pick(), 1.0)
    assert box.process_answer(sent, ReportAnswer(frozenset()))
    assert not box.waits()


def test_an_exercise_that_changed_while_it_was_on_its_way_is_sent_again():
    box = Outbox(None)
    box.check("convolve", right=False)
    sent, _ = make_report(box.pick(), 1.0)
    box.check("convolve", right=True)
    box.process_answer(sent, ReportAnswer(frozenset()))
    assert box.pick().checks == (report.SharedCheck("convolve", True, 2),)


@pytest.mark.parametrize(
    ("notebook", "lesson"),
    [
        ("07_a_cnn.ipynb", "07_a_cnn"),
        ("zh/07_a_cnn.ipynb", "07_a_cnn"),
        ("02_devices.ipynb", "03_devices"),  # a copy under its former name
        ("07_a_cnn of anna.ipynb", None),
        ("thesis.ipynb", None),
        (None, None),
    ],
)
def test_the_lesson_is_the_packaged_one_that_the_file_is_named_after(
    notebook: str | None, lesson: str | None
):
    assert Outbox(notebook).lesson == lesson


def test_else_the_lesson_is_that_of_the_exercise_tried_last():
    box = Outbox("my copy.ipynb")
    box.check("convolve", right=False)
    assert box.lesson == "07_a_cnn"
    box.check("pool", right=False)
    assert box.lesson == "13_fine_tuning"


# ---- one post


@pytest.fixture
def teacher():
    one = FakeTeacher()
    yield one
    one.cut()


def posted(teacher: FakeTeacher, token: str = "a-token", allowed: bool = True) -> ReportAnswer:
    _, body = make_report(filled(1, 2).pick(), 1.0)
    return post.post(Address(teacher.url, token), body, lambda: allowed)


def test_a_report_is_posted_and_acknowledged(teacher):
    assert posted(teacher) == ReportAnswer(ids(1, 2))
    assert teacher.numbers() == [1, 2]


@pytest.mark.parametrize(
    ("behave", "why", "final"),
    [
        (503, "it cannot store anything just now (503): No, [31m not now (503)", False),
        (429, "it has too many reports at once (429): No, [31m not now (429)", False),
        (418, "it answered with status 418: No, [31m not now (418)", False),
        (400, "it refused a report as wrong (400): No, [31m not now (400)", True),
        (413, "it refused a report as too large (413): No, [31m not now (413)", True),
        ("html", "it answered without saying what it has stored", False),
        ("gigabyte", "it answered without saying what it has stored", False),
        ("hang up", "it does not answer as a web server does (RemoteDisconnected)", False),
        ("redirect", "it answered with status 307", False),
    ],
)
def test_what_is_not_taken_is_said_in_words(teacher, behave, why, final):
    teacher.behave = behave
    assert posted(teacher) == ReportAnswer(None, why, final)
    assert len(teacher.bodies) == 1
    assert teacher.poured < 10**8


def test_an_answer_that_never_ends_is_given_up(teacher, monkeypatch):
    monkeypatch.setattr(post, "LIMIT", 0.2)
    teacher.behave = "drip"
    assert posted(teacher) == ReportAnswer(None, "it did not answer within 0.2 s")


def test_a_wrong_token_and_a_dead_service_are_no_end(teacher):
    answer = posted(teacher, token="another")
    assert answer.why.startswith("it does not let this server's token in (403)")
    assert not answer.final
    teacher.cut()
    assert posted(teacher) == ReportAnswer(None, "it cannot be reached (Connection refused)")
    teacher.resume()


def test_nothing_leaves_where_sharing_was_turned_off_while_it_connected(teacher):
    assert posted(teacher, allowed=False).taken is None
    assert posted(teacher).taken == ids(1, 2)
    assert len(teacher.bodies) == 1


def test_no_text_shows_the_token():
    address = Address("http://hub/services/teacher", "a-secret-token")
    assert "a-secret" not in f"{address} {address!r}"


@pytest.mark.parametrize(
    ("url", "token", "said"),
    [
        (
            "",
            "t",
            "This server has no teacher's view (a class's JupyterHub would set JUPYTER_MLGPU_TEACHER_URL)",
        ),
        (
            "http://hub/x",
            "",
            "This server has no teacher's view (a class's JupyterHub would set JUPYTERHUB_API",
        ),
        ("file:///etc/passwd", "t", "JUPYTER_MLGPU_TEACHER_URL should be an address such as"),
        ("http://", "t", "should be an address"),
        ("http://hub:99999/", "t", "should be an address"),
        ("http://hub/a b", "t", "should be an address"),
        ("http://hub/x?token=1", "t", "should be an address"),
        ("http://anna:hunter2@hub/x", "t", "should be an address"),
        ("http://hub/x", "two\nlines", "does not hold a token"),
    ],
)
def test_without_an_address_and_a_token_there_is_one_plain_sentence(url: str, token: str, said: str):
    with pytest.raises(UsageError) as refused:
        address_of({"JUPYTER_MLGPU_TEACHER_URL": url, "JUPYTERHUB_API_TOKEN": token})
    assert said in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert "\n" not in str(refused.value)


# ---- the thread


class Script:
    """A post that gives the answers of a list, and keeps what was sent; then it takes everything."""

    def __init__(self, *answers: ReportAnswer) -> None:
        self._answers = list(answers)
        self.sent: list[report.Report] = []
        self.times: list[float] = []
        self.done = threading.Semaphore(0)

    def __call__(self, body: bytes, allowed) -> ReportAnswer:
        self.sent.append(report.from_bytes(body))
        self.times.append(time.monotonic())
        self.done.release()
        taken = frozenset(one.id for one in self.sent[-1].records)
        return self._answers.pop(0) if self._answers else ReportAnswer(taken)

    def wait(self) -> None:
        assert self.done.acquire(timeout=60)


def settled(one: sender.Sender, until) -> sender.State:
    """The state, once it is as wanted: the answer is taken in after the post has returned."""
    deadline = time.monotonic() + 60
    while not until(one.state()):
        assert time.monotonic() < deadline, one.state()
        time.sleep(0.001)
    return one.state()


@pytest.fixture
def started(monkeypatch):
    """Starts senders that wait for next to nothing."""
    monkeypatch.setattr(sender, "EVERY", 0.001)
    running: list[sender.Sender] = []

    def start(script, **options) -> sender.Sender:
        one = sender.Sender(Outbox(None), script, **options)
        running.append(one)
        one.start()
        return one

    yield start
    for one in running:
        one.end(wait=10)


def test_a_record_is_sent_and_an_exercise_too(started):
    script = Script()
    one = started(script)
    one.add(example_record(1))
    script.wait()
    one.check("convolve", right=True)
    script.wait()
    state = settled(one, lambda state: state.taken == 1)
    assert (state.taken, state.waiting, state.passed, state.tried, state.why) == (1, 0, 1, 1, None)
    assert [len(sent.records) for sent in script.sent] == [1, 0]


def test_what_failed_is_tried_again_until_it_is_taken(started):
    script = Script(
        ReportAnswer(None, "it is away"), ReportAnswer(None, "it is away"), ReportAnswer(None, "it is away")
    )
    one = started(script)
    one.add(example_record(1))
    for _ in range(4):
        script.wait()
    state = settled(one, lambda state: state.taken == 1)
    assert (state.waiting, state.why) == (0, None)


def test_pauses_grow_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(sender, "EVERY", 10.0)
    one = sender.Sender(Outbox(None), Script(), now=lambda: 0.0)
    pauses = []
    for _ in range(8):
        one._take_in(None, ReportAnswer(None, "it is away"))
        pauses.append(one.state().next_try)
    for pause, least in zip(pauses, [20, 40, 80, 160, 300, 300, 300, 300], strict=True):
        assert least <= pause <= least * (1 + sender.SPREAD)


def test_from_one_post_to_the_next_there_are_at_least_ten_seconds(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    one = sender.Sender(filled(1), Script(), now=lambda: clock.now)
    assert one._next() is not None
    assert one.state().next_try == 10.0
    clock.now += 4
    assert one.state().next_try == 6.0


def test_a_ctrl_c_while_a_record_is_added_leaves_the_lock_free():
    box = filled()
    one, steps = sender.Sender(box, Script()), 0
    for _ in interrupted_at_each_line(lambda: one.check("1", right=True), threading, steps="opcode"):
        steps += 1
        other = threading.Thread(target=one.state, daemon=True)
        other.start()
        other.join(10.0)
        assert not other.is_alive(), f"interrupted at step {steps} of them"
    assert steps > 5


def test_a_failure_of_our_own_ends_neither_the_thread_nor_the_pauses(started):
    def broken(body, allowed):
        if not calls:
            calls.append(body)
            raise KeyError("a mistake")
        return script(body, allowed)

    calls: list[bytes] = []
    script = Script()
    one = started(broken)
    one.add(example_record(1))
    script.wait()
    assert settled(one, lambda state: state.taken == 1).why is None


def test_at_its_end_what_waits_is_forgotten_and_the_thread_ends(started):
    script = Script(ReportAnswer(None, "it is away"))
    one = started(script)
    one.add(example_record(1))
    script.wait()
    one.end(wait=60)
    one.add(example_record(2))
    one.check("convolve", right=True)
    assert one.state().waiting == 0
    assert not any(thread.name == sender.NAME for thread in threading.enumerate())


def test_the_end_waits_for_no_network(started):
    """A post that hangs: the one who ends it goes on at once, and hears that it is on its way."""
    go_on = threading.Event()
    posting = threading.Event()

    def hanging(body, allowed):
        posting.set()
        go_on.wait(60)
        return ReportAnswer(None, "it is away")

    one = started(hanging)
    one.add(example_record(1))
    assert posting.wait(60)
    one.add(example_record(2))  # nobody who adds waits either
    assert one.end()
    go_on.set()


def test_the_students_random_numbers_stay_as_they_were(started):
    random.seed(7)
    before = random.getstate()
    script = Script(ReportAnswer(None, "it is away"))
    one = started(script)
    one.add(example_record(1))
    script.wait()
    script.wait()
    assert random.getstate() == before


def test_a_forked_child_sends_nothing_and_does_not_hang(started, monkeypatch):
    script = Script()
    one = started(script)
    with one._changed:  # as the thread may hold it while a cell forks
        monkeypatch.setattr(os, "getpid", lambda: -1)
        one.add(example_record(1))
        one.check("convolve", right=True)
        assert one.end() is False
    monkeypatch.undo()
    assert one.state().waiting == 0


# ---- the consent


@pytest.fixture
def runtime():
    one = Runtime("07_a_cnn.ipynb")
    kits.install(one)
    yield one
    one.close()


CELL = SimpleNamespace(parent_header={"msg_type": "execute_request"})


@pytest.fixture
def command(runtime, teacher, monkeypatch):
    monkeypatch.setattr(sender, "EVERY", 0.001)
    environment = {"JUPYTER_MLGPU_TEACHER_URL": f"{teacher.url}/", "JUPYTERHUB_API_TOKEN": "a-token"}
    one = ShareCommand(runtime, CELL, environment)
    yield one
    one.end()


def run_cell(runtime: Runtime) -> int:
    record = runtime.recorder.start("a = 1").stop("ok")
    runtime.store.add(record)
    return record.cell.sequence


@pytest.mark.needs("numpy")
def test_nothing_is_sent_before_the_consent_nor_of_what_was_before(command, runtime, teacher):
    run_cell(runtime)
    check("convolve", exercises()["convolve"].reference)
    command.run("show")
    consenting = runtime.recorder.start("%mlc_share on")
    assert "Sharing is on" in command.run("on")
    runtime.store.add(consenting.stop("ok"))
    number = run_cell(runtime)
    teacher.wait(lambda: teacher.numbers() == [number])
    assert [one.checks for one in teacher.reports] == [()]


def test_the_consent_names_every_field_the_address_and_who_sees_them(command, teacher):
    said = command.run("on")
    names = {
        name
        for kind in (report.SharedRecord, report.SharedReading, report.SharedCheck, report.Report)
        for name in kind.__struct_fields__
    } - {"records", "readings", "checks"}
    assert names | set(report.SHARED) <= set(re.findall(r"\w+", said))
    assert teacher.url in said
    assert "You and the class's teachers can see it" in said
    assert "`%mlc_share off` stops it" in said
    assert len(said.splitlines()) <= 8


@pytest.mark.needs("numpy")
def test_after_off_nothing_is_sent(command, runtime, teacher, monkeypatch):
    monkeypatch.setattr(sender, "EVERY", 10.0)  # no second try is on its way when it is turned off
    command.run("on")
    teacher.behave = 503
    run_cell(runtime)
    teacher.wait(lambda: len(teacher.bodies) >= 1)
    assert "Sharing is off: nothing more is sent, and 1 waiting cell was discarded." in command.run("off")
    teacher.behave = "take"
    run_cell(runtime)
    check("convolve", exercises()["convolve"].reference)
    assert command.run("off").startswith("Sharing is off: nothing is sent.")
    command.run("on")
    number = run_cell(runtime)
    teacher.wait(lambda: bool(teacher.numbers()))
    assert teacher.numbers() == [number]


@pytest.mark.needs("numpy")
def test_lesson_and_exercises_go_with_the_records(command, runtime, teacher):
    command.run("on")
    assert check("convolve", lambda image, kernel: image).state == "wrong"
    assert check("convolve", ...).state == "open"
    assert check("convolve", exercises()["convolve"].reference).state == "right"
    right = report.SharedCheck("convolve", True, 2)
    teacher.wait(lambda: any(right in one.checks for one in teacher.reports))
    assert teacher.reports[-1].lesson == "07_a_cnn"


def test_show_prints_the_very_json_that_leaves(command, runtime, teacher):
    assert "No cell has been measured yet" in command.run("show")
    command.run("on")
    run_cell(runtime)
    teacher.wait(lambda: len(teacher.reports) == 1)
    shown, sent = json.loads(command.run("show")), report.to_json(teacher.reports[0])
    assert shown | {"sent_at": 0} == sent | {"sent_at": 0}


def test_records_of_others_are_not_shared(command, runtime, teacher):
    command.run("on")
    runtime.store.add(example_record(1))  # of another run
    runtime.store.add(runtime.recorder.start("a = 1").stop("ok").with_origin("loaded"))
    number = run_cell(runtime)
    teacher.wait(lambda: bool(teacher.numbers()))
    assert teacher.numbers() == [number]


def test_the_status_says_what_was_taken_what_waits_and_why(command, runtime, teacher):
    assert command.run("status").startswith("Sharing is off")
    command.run("on")
    number = run_cell(runtime)
    settled(command._sender, lambda state: state.taken == 1)
    assert "1 cell accepted, 0 cells waiting" in command.run("")
    assert number in teacher.numbers()
    teacher.behave = 413
    run_cell(runtime)
    settled(command._sender, lambda state: state.refused == 1)
    assert "1 cell will not be sent again: it refused a report as too large (413)" in command.run("status")
    teacher.behave = 503
    run_cell(runtime)
    settled(command._sender, lambda state: state.why is not None)
    assert "The last attempt failed: it cannot store anything just now (503)" in command.run("status")
    assert "a-token" not in command.run("status")


@pytest.mark.parametrize(
    "shell",
    [
        SimpleNamespace(),
        SimpleNamespace(parent_header={}),
        SimpleNamespace(parent_header={"msg_type": "comm_msg"}),
    ],
    ids=["a terminal", "a kernel that starts", "a button"],
)
def test_consent_is_given_in_a_cell_and_nowhere_else(runtime, teacher, shell):
    environment = {"JUPYTER_MLGPU_TEACHER_URL": teacher.url, "JUPYTERHUB_API_TOKEN": "a-token"}
    command = ShareCommand(runtime, shell, environment)
    with pytest.raises(UsageError, match="in a notebook cell"):
        command.run("on")
    assert command.run("status").startswith("Sharing is off")


def test_without_a_teachers_view_that_is_said_and_show_works_all_the_same(runtime):
    command = ShareCommand(runtime, CELL, {})
    for words in ("on", "status", ""):
        with pytest.raises(UsageError, match="This server has no teacher's view"):
            command.run(words)
    run_cell(runtime)
    assert len(json.loads(command.run("show"))["records"]) == 1
    with pytest.raises(UsageError, match="Choose on, off, status, show"):
        command.run("of")
