"""The store keeps records in order, within bounds, and tells who listens."""

import json

from msgspec.structs import replace

from jupyter_mlgpu.record.packed import Packer
from jupyter_mlgpu.record.store import Store
from jupyter_mlgpu.testing import example_record


def test_records_come_back_in_the_order_they_were_added():
    store = Store()
    for sequence in (1, 2, 3):
        store.add(example_record(sequence))
    assert [record.cell.sequence for record in store.records()] == [1, 2, 3]


def test_the_oldest_records_go_first_and_are_counted():
    store = Store(capacity=2)
    for sequence in (1, 2, 3):
        store.add(example_record(sequence))
    assert [record.cell.sequence for record in store.records()] == [2, 3]
    assert store.dropped == 1


def test_a_subscriber_hears_of_each_new_record():
    store, heard = Store(), []
    store.subscribe(heard.append)
    store.add(example_record(1))
    store.unsubscribe(heard.append)
    store.add(example_record(2))
    assert [record.cell.sequence for record in heard] == [1]


def test_a_subscriber_that_raises_costs_nobody_else_anything():
    store, heard = Store(), []

    def broken(record):
        raise OSError("the browser is gone")

    store.subscribe(broken)
    store.subscribe(heard.append)
    store.add(example_record(1))
    store.add(example_record(2))
    assert len(heard) == 2
    assert len(store.records()) == 2


def test_records_of_another_run_are_kept_beside_those_of_this_one():
    store = Store()
    store.add(example_record(1, run="a" * 32))
    assert store.extend([example_record(1, run="b" * 32)]) == (1, 0)
    assert len(store.records()) == 2


def test_loading_the_same_records_twice_adds_them_once():
    store = Store()
    assert store.extend([example_record(1)]) == (1, 0)
    assert store.extend([example_record(1)]) == (0, 0)


def test_loaded_records_let_none_go_that_was_made_here_and_the_last_of_them_are_kept():
    store = Store(capacity=3)
    made = [example_record(number) for number in range(3)]
    for record in made:
        store.add(record)
    loaded = [example_record(number, run="b" * 32) for number in range(9)]
    assert store.extend(loaded) == (3, 6)
    assert list(store.records()) == [*made, *loaded[6:]]
    assert store.extend(loaded) == (0, 6)
    store.add(example_record(3))
    assert list(store.records()) == [*made[1:], *loaded[6:], example_record(3)]
    assert (store.dropped, store.placed()[0]) == (1, 1)


def test_older_records_are_packed_and_come_back_equal():
    store = Store(newest=2)
    records = [_of(number, "a").with_note(f"note {number}") for number in range(6)]
    for record in records:
        store.add(record)
    assert list(store.records()) == records
    assert list(reversed(store.records())) == records[::-1]
    assert list(store.records()[1:3]) == records[1:3]
    assert [store.get(record.key) for record in records] == records
    assert [store.place(record.key) for record in records] == list(range(6))
    assert store.runs(_of(9, "a")) == tuple(records[-2:])
    late = records[0].with_note("A message came late.")
    store.add(late)
    assert list(store.records()) == [late, *records[1:]]
    assert sum(isinstance(one, bytes) for one in store.records()._entries) == 4


def test_a_packed_record_takes_a_fraction_of_what_it_takes_as_json():
    packer = Packer()
    packer.pack(example_record(1))
    packed = packer.pack(example_record(2, name="another cell"))
    assert len(packed) < len(json.dumps(example_record(2).to_json())) / 10


def test_a_record_is_found_by_its_key_while_it_is_held():
    store = Store()
    store.add(example_record(1))
    assert store.get(example_record(1).key) == example_record(1)
    assert store.get(example_record(2).key) is None


def test_a_record_keeps_its_place_and_places_count_on():
    store = Store(capacity=3)
    for number in range(5):
        store.add(example_record(number))
    assert (store.placed()[0], store.place(example_record(4).key)) == (2, 4)
    store.add(example_record(3, name="again"))
    assert store.place(example_record(3).key) == 3
    assert store.place(example_record(0).key) is None
    store.clear()
    place, held = store.placed()
    assert (place, list(held)) == (5, [])
    store.add(example_record(9))
    assert store.place(example_record(9).key) == 5


def test_the_runs_of_a_cell_are_found_among_the_others_also_when_one_is_replaced_or_let_go():
    store = Store(capacity=3)
    for sequence, code in enumerate("abaab", start=1):
        store.add(_of(sequence, code))
    late = _of(4, "a").with_note("A message came late.")
    store.add(late)
    assert store.runs(_of(9, "a")) == (_of(3, "a"), late)
    assert store.runs(_of(9, "b")) == (_of(5, "b"),)
    assert store.runs(_of(9, "c")) == ()
    store.clear()
    assert (len(store), store.runs(_of(9, "a"))) == (0, ())


def _of(sequence, code):
    record = example_record(sequence)
    cell = replace(record.cell, id="the-cell", source_digest=code * 16)
    return replace(record, cell=cell)
