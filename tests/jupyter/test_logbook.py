"""Messages of no cell are kept with the record before them, marked as late; others go to the browsers."""

from jupyter_mlgpu.jupyter.notebook.browser.logbook import LATE_LINES, Logbook
from jupyter_mlgpu.measure.capture.stretch import Notes
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record.record import STILL_READING, Fact, LogLine
from jupyter_mlgpu.testing import example_record


def line(text, *, late=False):
    return LogLine(text, None, "unknown", None, None, {}, 1, "stderr", "now", late)


def late(*texts):
    return Notes(tuple(line(text, late=True) for text in texts), {"gpu_name": Fact("M1", "a log")}, ("lost",))


class Setting:
    """A logbook with what it saved and pushed."""

    def __init__(self):
        self.runtime = Runtime()
        self.saved, self.pushed = [], []
        self.shown_again = []
        self.logbook = Logbook(self.runtime, self.save, self.pushed.append, self.shown_again.append)

    def save(self, record):
        self.saved.append(record)
        return record

    def run_cell(self, sequence):
        record = example_record(sequence)
        self.logbook.cell_begins(sequence)
        self.runtime.store.add(record)
        self.logbook.cell_ended(record)
        return record

    def texts(self, record):
        return [one.text for one in self.runtime.store.get(record.key).logs]


def test_a_message_before_any_record_belongs_to_none():
    here = Setting()
    here.logbook.on_late(None, late("early"))
    assert [one.text for one in here.logbook.early] == ["early"]
    assert [(event["type"], event["sequence"]) for event in here.pushed] == [("logs", None)]


def test_a_message_after_a_cell_is_kept_with_its_record_and_saved_again():
    here = Setting()
    record = here.run_cell(1)
    here.logbook.on_late(1, late("late"))
    changed = here.runtime.store.get(record.key)
    assert [(one.text, one.late) for one in changed.logs] == [("late", True)]
    assert changed.facts["gpu_name"].value == "M1"
    assert changed.notes == ("lost",)
    assert here.saved == [changed]


def test_a_message_that_came_while_a_record_was_being_shown_waits_for_it():
    here = Setting()
    first = here.run_cell(1)
    here.logbook.cell_begins(2)
    here.logbook.on_late(2, late("after the second cell"))
    second = example_record(2)
    here.runtime.store.add(second)
    here.logbook.cell_ended(second)
    assert here.texts(first) == []
    assert here.texts(second) == ["after the second cell"]


def test_a_message_of_a_command_of_ours_belongs_to_no_record():
    here = Setting()
    record = here.run_cell(1)
    here.logbook.on_late(None, late("TensorFlow was asked for its devices"))
    assert here.texts(record) == []
    assert [one.text for one in here.logbook.early] == ["TensorFlow was asked for its devices"]


def test_messages_read_after_their_cell_take_the_place_of_a_part_of_them_and_are_shown_again():
    here = Setting()
    first = example_record(1).with_logs((line("one"),), {}, (STILL_READING,))
    here.logbook.cell_begins(1)
    here.runtime.store.add(first)
    here.logbook.cell_ended(first)
    here.logbook.on_late(1, late("late"))
    here.logbook.on_rest(1, Notes((line("one"), line("two")), {}, ("some were counted",)))
    changed = here.runtime.store.get(first.key)
    assert here.texts(first) == ["one", "two", "late"]
    assert changed.notes == ("lost", "some were counted")
    assert here.saved[-1] == changed
    assert here.shown_again == [changed]


def test_messages_read_before_their_record_is_there_wait_for_it():
    here = Setting()
    here.run_cell(1)
    here.logbook.cell_begins(2)
    here.logbook.on_rest(2, Notes((line("one"),), {}, ()))
    second = example_record(2).with_logs((), {}, (STILL_READING,))
    here.runtime.store.add(second)
    here.logbook.cell_ended(second)
    assert here.texts(second) == ["one"]
    assert [record.key for record in here.shown_again] == [second.key]


def test_one_record_takes_so_many_late_messages_and_says_so():
    here = Setting()
    record = here.run_cell(1)
    for _ in range(3):
        here.logbook.on_late(1, late(*[str(number) for number in range(LATE_LINES)]))
    changed = here.runtime.store.get(record.key)
    assert len(changed.logs) == LATE_LINES
    assert any("later ones are not kept" in note for note in changed.notes)


def test_live_messages_are_told_with_their_cell_and_kept_for_a_browser_that_comes_later():
    here = Setting()
    here.logbook.cell_begins(4)
    here.logbook.on_live((line("now"),))
    assert here.pushed == [{"type": "logs", "sequence": 4, "lines": [line("now").to_json()]}]
    assert [one["text"] for one in here.logbook.running()] == ["now"]
    here.logbook.cell_ended(example_record(4))
    assert here.logbook.running() == []


def test_after_clear_messages_go_on_as_before_the_first_record():
    here = Setting()
    here.run_cell(1)
    here.runtime.store.clear()
    here.logbook.clear()
    here.logbook.on_late(1, late("later"))
    assert [one.text for one in here.logbook.early] == ["later"]
