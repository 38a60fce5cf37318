"""`jupyter mlgpu class release`: makes the students' version of labs with nbgrader.

The result is searched for solutions and hidden tests before it is called ready, because nbgrader copies files
beside the notebook, and cells that were never marked, unchanged.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from jupyter_mlgpu.jupyter.cli.progress import progress
from jupyter_mlgpu.jupyter.cli.terminal import tell
from jupyter_mlgpu.record.errors import MlgpuError, UsageError
from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.sentence import Sentence, say, say_count
from jupyter_mlgpu.teach.commands.collect import notebooks_of
from jupyter_mlgpu.teach.commands.through_nbgrader import make_release
from jupyter_mlgpu.teach.grading import withheld
from jupyter_mlgpu.teach.lessons import shipped


def release(course: Path, lab: str | None, language: str | None) -> int:
    """Make the students' version of a lab, or of all in the course's `source`; return the exit status.

    A course without labs begins with ours in this language.
    """
    require(say("Making the students' version"), "classroom", "nbgrader")
    has_labs = any(_notebooks(course))
    if has_labs and language is not None:
        raise UsageError(
            say(
                "{folder} has labs already: leave out --language, which says with which of ours to begin.",
                folder=course / "source",
            )
        )
    copied = [] if has_labs else _copy_ours(course, language or shipped.LANGUAGES[0])
    if lab is not None:
        notebooks_of(course, lab)
    labs = [lab] if lab is not None else sorted({one.parent.name for one in _notebooks(course)})
    show = progress()
    try:
        for number, name in enumerate(labs, start=1):
            show.cell(number, len(labs), name)
            make_release(course, name)
            _search_for_leaks(course, name)
    finally:
        show.close()
    for sentence in _messages(course, labs, copied):
        tell(sentence)
    return 0


def _notebooks(course: Path) -> Iterator[Path]:
    return (course / "source").glob("*/*.ipynb")


def _copy_ours(course: Path, language: str) -> list[Path]:
    copied = []
    for path in shipped.labs(language):
        place = course / "source" / path.parent.name / path.name
        write_atomically(place, shipped.content(path), follow=False)
        copied.append(place)
    return copied


def _search_for_leaks(course: Path, lab: str) -> None:
    """Raise MlgpuError and delete the release if a file in it gives something away."""
    kept: set[str] = set()
    for path in (course / "source" / lab).glob("*.ipynb"):
        kept |= withheld.lines(json.loads(path.read_bytes()))
    release_folder = course / "release" / lab
    for path in sorted(one for one in release_folder.rglob("*") if one.is_file()):
        line = withheld.first_leak(path, kept)
        if line is not None:
            shutil.rmtree(release_folder)
            raise MlgpuError(
                say(
                    "{file} of {lab} would give a solution or a hidden test to students: {line} "
                    "Take it out of {source}, and run this again. Nothing was left in {release}.",
                    file=path.relative_to(release_folder),
                    lab=lab,
                    line=repr(line),
                    source=course / "source" / lab,
                    release=release_folder,
                )
            )


def _messages(course: Path, labs: list[str], copied: list[Path]) -> Iterator[Sentence]:
    if copied:
        yield say_count(
            "Copied {count} lab to {folder}, with its solution: keep that folder to yourself.",
            "Copied {count} labs to {folder}, with their solutions: keep that folder to yourself.",
            len(copied),
            folder=course / "source",
        )
    yield say_count(
        "{count} lab is ready for students, without solution and hidden tests: {names}.",
        "{count} labs are ready for students, without solutions and hidden tests: {names}.",
        len(labs),
        names=", ".join(labs),
    )
    yield say("Give out what is in {folder}.", folder=course / "release")
