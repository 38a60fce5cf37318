"""`replay`: cells of another machine, with their strips, which are no receipts of the notebook."""

from pathlib import Path

import pytest

from jupyter_mlgpu.lessons import replay
from jupyter_mlgpu.measure import tracing
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.teach.lessons import recordings, replaying
from jupyter_mlgpu.testing import example_record

#: The cells as they were run on the GPU, by the name of their recording.
RUN = {path.stem: path for path in (Path(__file__).parents[1] / "device" / "lesson_strips").glob("*.py")}


@pytest.fixture(params=sorted(RUN))
def name(request):
    return request.param


def test_replayed_cells_say_first_that_they_were_not_measured_here(name):
    shown = repr(replay(name))
    assert shown.startswith("Replayed, not measured here: NVIDIA H200, with PyTorch ")


def test_each_cell_has_its_code_and_its_strip(name):
    setup, *cells = RUN[name].read_text().split("# %%\n")
    recorded = recordings.read(recordings.FOLDER / f"{name}.json").data["cells"]
    assert [one["code"] for one in recorded] == [
        f"%load_ext jupyter_mlgpu\n{setup.strip()}",
        *map(str.strip, cells),
    ]
    shown = replay(name)
    assert repr(shown).count("[mlgpu] replayed: ") == len(cells)
    assert shown._repr_html_().count("<img ") == len(cells)


def test_a_long_program_that_only_prepares_the_others_is_folded(name):
    program = RUN[name].read_text().split("# %%\n")[0].strip().splitlines()
    folded = replay(name)._repr_html_().count("<details><summary>The program that they share, ")
    assert folded == (1 + len(program) > 12)


def test_they_are_no_receipts_of_the_notebook():
    assert not hasattr(replay("03_waits"), "_repr_mimebundle_")


@pytest.mark.parametrize("name", ["99_nothing", "03_race"])
def test_a_name_without_recorded_cells_is_refused_with_those_that_there_are(name):
    with pytest.raises(UsageError, match=rf"no recorded cells called {name!r}; there are 03_waits, "):
        replay(name)


def test_cells_of_a_kernel_are_saved_and_shown_again(monkeypatch, tmp_path):
    record = example_record()
    number = record.cell.execution_count
    monkeypatch.setattr(tracing, "records", lambda: [record])
    monkeypatch.setattr(recordings, "FOLDER", tmp_path)
    monkeypatch.setenv(recordings.VARIABLE, str(tmp_path))
    kept = {}
    monkeypatch.setattr(recordings, "record", lambda name, data, framework: kept.update({name: data}))
    cells = replaying.cells({0: "import that", number: "work()"})
    replaying.save("99_mine", cells)
    assert [one["code"] for one in kept["99_mine"]["cells"]] == ["import that", "work()"]
    assert kept["99_mine"]["cells"][0]["record"] is None
    assert kept["99_mine"]["cells"][1]["record"]["cell"] == record.to_notebook()["cell"]
