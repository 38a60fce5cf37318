"""The fuzzer sees what it is there to see: it would be worth nothing if it could not fail."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import strategies as st

from jupyter_mlgpu.explain.doctor import reading
from jupyter_mlgpu.record.errors import MlgpuError, UsageError
from tests.fuzz import driver, mutations, seeds
from tests.fuzz.readers import READERS, Reader


def failing(read):
    return driver.failure(Reader(read, st.binary), b"an input")


def raising(error):
    def read(data: bytes, folder: Path) -> None:
        raise error

    return read


def test_an_error_of_ours_is_an_answer_when_it_is_a_sentence():
    assert failing(raising(UsageError("There is nothing to read; give another file."))) is None
    for text in ("", "two\nlines", "a \x1b[31mcolour", "half a pair: \ud800"):
        assert "no sentence" in failing(raising(UsageError(text)))[1]


def test_any_other_exception_is_found_with_its_line():
    where, what = failing(raising(KeyError("wall_time")))
    assert where.startswith("test_driver.py:")
    assert what == "KeyError: 'wall_time'"


def test_what_takes_too_long_and_what_waits_are_found(monkeypatch):
    def works(data, folder):
        while True:
            pass

    monkeypatch.setattr(driver, "SLOW", 0.1)
    assert failing(works)[1] == "TooSlowError: more than 0.1 s"
    monkeypatch.setattr(driver, "WAITING", 0.5)
    assert failing(lambda data, folder: time.sleep(60))[1] == "TooSlowError: more than 0.5 s"


def test_what_takes_much_memory_is_found_and_an_input_that_failed_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(driver, "KEPT", tmp_path)
    monkeypatch.setattr(driver, "MEMORY", driver.peak() + 50_000_000)
    large = Reader(lambda data, folder: bytearray(b"x") * 200_000_000, lambda: st.just(b"an input"))
    told = driver.fuzz("large", large, 1, 1)
    assert list(told.found) == ["memory"]
    assert Path(told.found["memory"].file).read_bytes() == b"an input"


def test_the_same_seed_gives_the_same_inputs():
    def of(seed):
        given: list[bytes] = []
        driver.drawn(mutations.of_lines(seeds.records()), 20, seed, given.append)
        return given

    assert of(1) == of(1) != of(2)


def test_they_do_not_depend_on_what_a_process_has_done_before():
    name, here, elsewhere = "records-show", [], []
    driver.drawn(READERS[name].inputs(), 20, 3, here.append)
    driver.drawn_elsewhere(name, 20, 3, elsewhere.append)
    assert here == elsewhere


def test_of_the_changed_files_many_are_still_read_and_many_are_not(tmp_path):
    """Where all were refused, nothing behind the reading would be tested."""
    came = []

    def give(data: bytes) -> None:
        (tmp_path / "facts.json").write_bytes(data)
        try:
            reading.load(tmp_path / "facts.json")
            came.append("read")
        except MlgpuError:
            came.append("refused")

    driver.drawn(mutations.of_json(seeds.facts()), 200, 1, give)
    assert min(came.count("read"), came.count("refused")) > 20


def test_a_made_up_file_is_never_so_large_that_only_its_size_would_be_tested():
    sizes: list[int] = []
    large = mutations.of_json([["@@huge:3000000@@"] * 100])
    driver.drawn(large, 100, 1, lambda data: sizes.append(len(data)))
    assert 3_000_000 < max(sizes) < 30_000_000


@pytest.mark.parametrize(
    "name", ["notebooks", "records", "facts", "benches", "logs", "reports", "recordings"]
)
def test_there_are_real_files_to_begin_with(name):
    assert len(getattr(seeds, name)()) >= 2
