"""What the launcher's card opens: lessons that are there, else those that the server copies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_mlgpu.record.errors import MlgpuError
from jupyter_mlgpu.teach.commands.card import FOLDER, PLACES, SECONDS, first_lesson, handlers
from jupyter_mlgpu.teach.commands.lessons import copy
from jupyter_mlgpu.teach.lessons import shipped
from jupyter_mlgpu.teach.packaged import FORMER, LESSONS

FIRST = "00_start_here.ipynb"


@pytest.fixture(autouse=True)
def _signatures(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the signatures of copied lessons out of the data base of whoever runs the tests."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path_factory.mktemp("data")))


def test_where_there_are_no_lessons_they_are_copied_and_their_place_is_told(tmp_path):
    first, said = first_lesson(tmp_path, "en")
    assert first.as_posix() == f"{FOLDER}/{FIRST}"
    assert (tmp_path / first).read_bytes() == (shipped.folder() / FIRST).read_bytes()
    count = len(list(shipped.files("en")))
    assert str(said) == f"Copied {count} files to {tmp_path / FOLDER}."


def test_the_second_time_nothing_is_copied_and_work_stays(tmp_path):
    first, _ = first_lesson(tmp_path, "en")
    (tmp_path / first).write_text("mine", encoding="utf-8")
    (tmp_path / FOLDER / "03_devices.ipynb").unlink()
    again, said = first_lesson(tmp_path, "en")
    assert (again, said) == (first, None)
    assert (tmp_path / first).read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / FOLDER / "03_devices.ipynb").exists()


def test_a_chinese_jupyterlab_opens_the_chinese_ones_also_beside_english_ones(tmp_path):
    first_lesson(tmp_path, "en")
    first, said = first_lesson(tmp_path, "zh-CN")
    assert first.as_posix() == f"{FOLDER}/zh/{FIRST}"
    assert (tmp_path / first).is_file()
    assert said is not None
    assert first_lesson(tmp_path, "zh-CN") == (first, None)


def test_a_language_without_lessons_gets_the_english_ones(tmp_path):
    assert first_lesson(tmp_path, "de-DE")[0].as_posix() == f"{FOLDER}/{FIRST}"


@pytest.mark.parametrize("place", PLACES)
def test_lessons_that_are_there_are_opened_where_they_are(tmp_path, place):
    copy(tmp_path / place, "en")
    assert first_lesson(tmp_path, "en") == (Path(place) / FIRST, None)
    assert place == FOLDER or not (tmp_path / FOLDER).exists()


def test_lessons_of_an_older_version_are_opened_where_they_are(tmp_path):
    copy(tmp_path / "my-lessons", "en")
    folder = tmp_path / "my-lessons"
    (folder / "01_reading_a_sick_machine.ipynb").rename(folder / "01_adding_tensors.ipynb")
    assert first_lesson(tmp_path, "en") == (Path("my-lessons") / FIRST, None)


def test_the_second_lesson_is_known_by_its_name():
    assert SECONDS[0] == tuple(LESSONS)[1]
    assert FORMER[SECONDS[1]] in LESSONS


def test_another_course_that_begins_with_a_notebook_of_that_name_is_not_taken_for_ours(tmp_path):
    (tmp_path / FIRST).write_text("another course", encoding="utf-8")
    assert first_lesson(tmp_path, "en")[0].as_posix() == f"{FOLDER}/{FIRST}"
    assert (tmp_path / FIRST).read_text(encoding="utf-8") == "another course"


def test_what_is_in_the_way_is_told(tmp_path):
    (tmp_path / FOLDER).write_text("a file", encoding="utf-8")
    with pytest.raises(MlgpuError, match="is not a folder"):
        first_lesson(tmp_path, "en")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(MlgpuError, match="cannot"):
        first_lesson(tmp_path, "en")


def test_the_address_follows_the_servers_own():
    ((address, _),) = handlers("/user/ada/")
    assert address.startswith("/user/ada/jupyter-mlgpu/lessons/")
