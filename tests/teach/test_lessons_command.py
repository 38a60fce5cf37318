"""`jupyter mlgpu lessons`: a learner gets the lessons, and keeps what they have written into them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from tracked import tracked

from jupyter_mlgpu.explain.doctor.gather import notebooks
from jupyter_mlgpu.jupyter.cli import main
from jupyter_mlgpu.teach.lessons import shipped

ROOT = Path(__file__).parents[2]
FIRST = "00_start_here.ipynb"


@pytest.fixture(autouse=True)
def _signatures(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the signatures of copied lessons out of the data base of whoever runs the tests."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path_factory.mktemp("data")))


def copied(folder: Path) -> set[str]:
    """The files in a folder, as paths within it."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_learner_gets_the_lessons_and_their_solutions(tmp_path, capsys):
    target = tmp_path / "my" / "lessons"
    assert main(["lessons", str(target)]) == 0
    assert (target / FIRST).read_bytes() == (ROOT / "notebooks" / FIRST).read_bytes()
    lessons = {name for name in copied(target) if "/" not in name}
    assert lessons == {path.name for path in tracked(ROOT / "notebooks", "*.ipynb")}
    assert copied(target) - lessons == {
        f"solutions/{path.name}" for path in tracked(ROOT / "notebooks/solutions", "*.ipynb")
    }
    said = capsys.readouterr().out
    assert f"Copied {len(copied(target))} files to {target}." in said
    assert f"jupyter lab {target / FIRST}" in said


@pytest.mark.needs("nbformat")
def test_the_doctor_does_not_call_copied_lessons_untrusted(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    target = tmp_path / "lessons"
    assert main(["lessons", str(target), "--language", "zh"]) == 0
    for folder in (target, target / "zh", target / "solutions"):
        monkeypatch.chdir(folder)
        found = notebooks.read()
        assert [one.name for one in found if one.rich]
        assert [one.name for one in found if not one.trusted] == []


def test_lessons_are_copied_where_they_cannot_be_trusted(tmp_path, monkeypatch, capsys):
    (tmp_path / "data").write_text("not a folder", encoding="utf-8")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    assert main(["lessons", str(tmp_path / "lessons")]) == 0
    assert "Copied" in capsys.readouterr().out


def test_chinese_lessons_come_in_the_folder_that_makes_them_speak_chinese(tmp_path, capsys):
    assert main(["lessons", str(tmp_path), "--language", "zh"]) == 0
    assert "从这里开始" in (tmp_path / "zh" / FIRST).read_text("utf-8")
    assert {path.stem for path in (tmp_path / "zh").iterdir()} == {
        path.stem for path in tracked(ROOT / "notebooks", "*.ipynb")
    }
    assert (tmp_path / FIRST).is_file()
    assert f"jupyter lab {tmp_path / 'zh' / FIRST}" in capsys.readouterr().out


def test_every_language_has_its_lessons():
    folders = {path.parent.name for path in tracked(ROOT / "notebooks", "*/00_start_here.po")}
    assert set(shipped.LANGUAGES) == {"en", *folders}


def test_what_a_learner_has_written_stays_and_what_is_missing_comes_back(tmp_path, capsys):
    main(["lessons", str(tmp_path)])
    (tmp_path / FIRST).write_text("mine", encoding="utf-8")
    (tmp_path / "02_adding_tensors.ipynb").unlink()
    capsys.readouterr()
    assert main(["lessons", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert (tmp_path / FIRST).read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "02_adding_tensors.ipynb").is_file()
    assert f"Copied 1 file to {tmp_path}." in said
    assert f"1 file there differs from ours and was left as it is (--replace replaces it): {FIRST}." in said


def test_a_learner_who_asks_for_it_gets_the_file_as_it_came(tmp_path, capsys):
    main(["lessons", str(tmp_path)])
    (tmp_path / FIRST).write_text("mine", encoding="utf-8")
    capsys.readouterr()
    assert main(["lessons", str(tmp_path), "--replace"]) == 0
    assert (tmp_path / FIRST).read_bytes() == (ROOT / "notebooks" / FIRST).read_bytes()
    assert f"Copied 1 file to {tmp_path}." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("in_the_way", "found"), [("solutions", "is not a folder"), (FIRST, "is not a regular file")]
)
def test_what_is_in_the_way_is_told_before_anything_is_copied(tmp_path, capsys, in_the_way, found):
    target = tmp_path / "lessons"
    target.mkdir()
    if found == "is not a folder":
        (target / in_the_way).write_text("mine", encoding="utf-8")
    else:
        (target / in_the_way).mkdir()
    assert main(["lessons", str(target)]) == 2
    assert f"{target / in_the_way} {found}" in capsys.readouterr().err
    assert [path.name for path in target.iterdir()] == [in_the_way]


def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path):
    target = tmp_path / "lessons"
    target.mkdir()
    (target / FIRST).symlink_to(tmp_path / "elsewhere.ipynb")
    assert main(["lessons", str(target)]) == 2
    assert not (tmp_path / "elsewhere.ipynb").exists()


def test_who_has_no_tensorflow_hears_what_the_lessons_need(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(shipped, "installed", lambda name: False)
    monkeypatch.setattr(sys, "version_info", (3, 12, 0))
    assert main(["lessons", str(tmp_path)]) == 0
    assert 'pip install "jupyter_mlgpu[lessons]"' in capsys.readouterr().out


def test_who_has_too_new_a_python_is_not_told_to_install_what_it_cannot_have(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(shipped, "installed", lambda name: False)
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    assert main(["lessons", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "[lessons] needs Python 3.12 or older, and this is Python 3.14: run them in" in said
    assert "pip install" not in said


@pytest.fixture
def with_strays(tmp_path, monkeypatch):
    """A checkout in which a user has kept notebooks of their own; the lessons are read there."""
    for path in ("notebooks", "jupyter_mlgpu/teach/packaged.py"):
        copy = shutil.copytree if (ROOT / path).is_dir() else shutil.copy
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / path, tmp_path / path)
    first = (ROOT / "notebooks" / FIRST).read_bytes()
    for name in ("Untitled", "00_start_here-Copy1", "16_mine"):
        for folder in (
            "",
            "solutions/",
            "zh/",
            "labs/source/",
            "labs/source/lab_2_devices/",
            "labs/source/mine/",
        ):
            path = tmp_path / "notebooks" / f"{folder}{name}.ipynb"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(first)
    monkeypatch.setattr(shipped, "PLACES", (tmp_path / "notebooks",))
    return tmp_path


def of_git(*patterns: str) -> set[str]:
    """What git tracks below notebooks/."""
    folder = ROOT / "notebooks"
    return {path.relative_to(folder).as_posix() for one in patterns for path in tracked(folder, one)}


def test_notebooks_that_a_user_keeps_beside_the_lessons_are_not_copied(with_strays):
    target = with_strays / "target"
    assert main(["lessons", str(target), "--language", "zh"]) == 0
    translated = {name.replace(".po", ".ipynb") for name in of_git("zh/*.po")}
    assert copied(target) == of_git("*.ipynb", "solutions/*.ipynb") | translated
    assert {path.as_posix() for path in shipped.labs("en")} == of_git("labs/source/*/*.ipynb")


@pytest.mark.needs("hatchling")
def test_notebooks_that_a_user_keeps_beside_the_lessons_are_not_in_the_wheel(with_strays):
    import hatch_build

    assert hatch_build.packaged(with_strays) == sorted(of_git("**/*") - {"conftest.py"})


def test_an_installation_without_lessons_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(shipped, "PLACES", (tmp_path,))
    assert main(["lessons", str(tmp_path / "lessons")]) == 2
    assert "The lessons are missing from this installation" in capsys.readouterr().err
