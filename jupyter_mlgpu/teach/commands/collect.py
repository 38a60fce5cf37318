"""`jupyter mlgpu class collect`: copies submissions from mail or a learning platform to nbgrader's folders.

Only regular files are copied, and links are not followed, because a link could lead to the lab's solutions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jupyter_mlgpu.jupyter.cli.terminal import tell
from jupyter_mlgpu.record import incoming
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.teach.submissions import folders

# Moodle's folder names end like this: NAME_123456_assignsubmission_file.
_PLATFORM = re.compile(r"(_\d+)?_assignsubmission_(file|onlinetext)_?$")

# Suffixes that browsers and learning platforms add to file names: `lab (1)`, `lab-2`.
_COPY = re.compile(r"( ?\(\d+\)|-\d{1,2}| copy)$")


class _LeftOutError(Exception):
    """The reason why something in the inbox was not collected."""


class _NoNotebookError(_LeftOutError):
    """There is no notebook in a student's folder."""


@dataclass(frozen=True)
class HandedIn:
    """A submitted notebook: the student, its file, and its name in the lab."""

    student: str
    path: Path
    name: str


def collect(course: Path, lab: str, inbox: Path, *, replace: bool = False) -> int:
    """Copy the notebooks of the inbox, and return the exit status: 1 if something was left out."""
    names = notebooks_of(course, lab)
    if inbox.is_file() and folders.archives(inbox):
        raise UsageError(
            f"{visible_line(inbox)} is an archive: unpack it, and give --from the folder that comes out."
        )
    if not inbox.is_dir():
        raise UsageError(
            f"{visible_line(inbox)} is not a folder; give --from the folder with what was handed in."
        )
    entries = sorted(one for one in inbox.iterdir() if not one.name.startswith("."))
    if not entries:
        raise UsageError(f"{visible_line(inbox)} is empty: it needs a folder or a notebook for each student.")
    problems: list[str] = []
    notes: list[str] = []
    collected: dict[tuple[str, str], Path] = {}
    for entry in entries:
        try:
            for found in _of(entry, names):
                before = collected.setdefault((found.student, found.name), found.path)
                if before is not found.path:
                    raise _LeftOutError(f"{found.student} already handed in {visible_line(before.name)}")
                place = course / "submitted" / found.student / lab / found.name
                copied = _copy(found.path, place, replace)
                renamed = "" if found.path.name == found.name else f", from {visible_line(found.path.name)}"
                tell(f"{found.student}: {copied}{renamed}")
            notes += _not_taken(entry, set(collected.values()))
        except _LeftOutError as error:
            problems.append(f"{visible_line(entry.name)} was left out: {error}.")
    students = {student for student, _ in collected}
    there = visible_line(course / "submitted")
    tell(f"{len(students):,} student{'s' if len(students) != 1 else ''} in {there}.")
    for line in [*problems, *notes]:
        tell(f"  {line}")
    return 1 if problems else 0


def notebooks_of(course: Path, lab: str) -> list[str]:
    """Return the file names of a lab's notebooks.

    Raises UsageError if there is no such lab; the message lists the labs.
    """
    if Path(lab).name != lab or lab in (".", ".."):
        raise UsageError(
            f"--lab is the name of a folder in {visible_line(course / 'source')}; found {lab!r}."
        )
    names = sorted(path.name for path in (course / "source" / lab).glob("*.ipynb"))
    if not names:
        labs = sorted(path.parent.name for path in (course / "source").glob("*/*.ipynb"))
        known = (
            f"choose {', '.join(map(visible_line, dict.fromkeys(labs)))}"
            if labs
            else "there is no lab in that folder"
        )
        raise UsageError(
            f"{visible_line(course / 'source')} has no lab {lab!r} with a notebook in it; {known}."
        )
    return names


def _of(entry: Path, names: list[str]) -> Iterator[HandedIn]:
    if entry.is_symlink():
        raise _LeftOutError(f"it {folders.LINK}")
    if entry.is_dir():
        student = _student(entry.name)
        inside = list(folders.notebooks(entry))
        refused = [f"{visible_line(path.relative_to(entry))} {why}" for path, why in inside if why]
        try:
            matched = _match([path for path, why in inside if not why], names)
        except _NoNotebookError as error:
            packed = folders.archives(entry)
            if packed:
                refused.insert(0, f"unpack {visible_line(packed[0].relative_to(entry))}")
            raise _LeftOutError("; ".join([str(error), *refused])) from error
        except _LeftOutError as error:
            raise _LeftOutError("; ".join([str(error), *refused])) from error
        for path, name in matched:
            yield HandedIn(student, path, name)
        return
    if entry.suffix != ".ipynb":
        advice = ", but an archive: unpack it" if folders.archives(entry) else ""
        raise _LeftOutError(f"it is neither a notebook nor a folder{advice}")
    stem = _COPY.sub("", entry.stem)
    near = next((one for one in names if Path(one).stem in stem), names[0] if len(names) == 1 else None)
    if near is None:
        raise _LeftOutError(f"its name contains none of {', '.join(names)}")
    student = stem.replace(Path(near).stem, "").strip(" _-.")
    if not student:
        raise _LeftOutError("its name does not say whose it is; name it STUDENT.ipynb")
    yield HandedIn(_student(student), entry, near)


def _not_taken(entry: Path, taken: set[Path]) -> list[str]:
    """Return a sentence for each notebook and archive of a student's folder that was not collected."""
    if not entry.is_dir() or entry.is_symlink():
        return []
    others = [path for path, _ in folders.notebooks(entry) if path not in taken] + folders.archives(entry)
    return [
        f"{visible_line(path.relative_to(entry.parent))} was not collected, only the notebook beside it."
        for path in others
    ]


def _match(files: list[Path], names: list[str]) -> list[tuple[Path, str]]:
    """Return a student's notebook for each name, even if a browser has changed the name."""
    if not files:
        raise _NoNotebookError("there is no notebook in it")
    exact = [(path, path.name) for path in files if path.name in names]
    if not exact:
        exact = [(path, f"{_COPY.sub('', path.stem)}.ipynb") for path in files]
        exact = [(path, name) for path, name in exact if name in names]
    if not exact and len(files) == len(names) == 1:
        return [(files[0], names[0])]
    if not exact:
        raise _LeftOutError(f"it has no notebook {' or '.join(names)}")
    doubled = [name for name in names if sum(one == name for _, one in exact) > 1]
    if doubled:
        raise _LeftOutError(f"it has more than one notebook that can be {doubled[0]}")
    return exact


def _student(name: str) -> str:
    """Return a student's id for nbgrader from a folder's or file's name, without spaces or path syntax."""
    bare = _PLATFORM.sub("", name)
    student = re.sub(r"[^\w.@-]+", "-", bare).strip(".-")
    if not student:
        raise _LeftOutError("its name does not say whose it is")
    return student


def _copy(path: Path, place: Path, replace: bool) -> str:
    try:
        data = incoming.read_bytes(path, most=incoming.MOST_OF_ANOTHERS, what="a notebook", follow=False)
    except UsageError as error:
        raise _LeftOutError(str(error).rstrip(".")) from error
    if os.path.lexists(place):
        if _has_content(place, data):
            return f"{visible_line(place.name)} was there already"
        if not replace:
            raise _LeftOutError(
                f"another {visible_line(place.name)} was collected before; "
                "--replace lets this one take its place"
            )
    write_atomically(place, data, follow=False)
    return visible_line(place.name)


def _has_content(place: Path, data: bytes) -> bool:
    """Return True if a file with the same content was collected before."""
    try:
        return incoming.read_bytes(place, most=len(data), what="a notebook", follow=False) == data
    except UsageError:
        return False
