"""`jupyter mlgpu class report`: summarizes the records saved in a class's notebooks, without running code."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jupyter_mlgpu.jupyter.cli.terminal import tell
from jupyter_mlgpu.record import incoming
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.visible import visible, visible_line
from jupyter_mlgpu.teach.submissions import Submission, find_inconsistencies, folders, read

#: The table that `class grade` writes.
GRADES = "grades.csv"


@dataclass(frozen=True)
class Entry:
    """One student's notebook, or a sentence on why it could not be read.

    `against` are sentences on inconsistencies of its records. `points` are those of the last `class grade`,
    and `feedback` is the page that it wrote, both None if there are none.
    """

    student: str
    lab: str
    notebook: Submission | None
    why: str | None = None
    against: tuple[str, ...] = ()
    points: str | None = None
    feedback: Path | None = None

    @property
    def records(self) -> tuple[Record, ...]:
        """The records saved in it, from top to bottom."""
        return () if self.notebook is None else self.notebook.records


@dataclass
class Times:
    """The wall times of one cell over the class, by student; only light runs without an error."""

    lab: str
    cell: str
    seconds: dict[str, float] = field(default_factory=dict)


def report(folder: Path, lab: str | None, out: Path | None) -> int:
    """Write the report, print its text, and return the exit status: 1 if a notebook could not be read."""
    from jupyter_mlgpu.teach.commands import page as class_page

    if out is not None and out.suffix != ".html":
        raise UsageError(
            f"--out takes the name of a page, as in report.html, and found {str(out)!r}; the text is written "
            "beside it as report.txt."
        )
    entries = gather(folder, lab)
    if not entries:
        raise UsageError(
            f"There are no notebooks in {visible_line(folder)}{f' of the lab {lab!r}' if lab else ''}: "
            "it needs a course's folder with `submitted` in it, or a folder or a notebook for each student."
        )
    page = out or folder / "class_report.html"
    text = class_page.text(entries, page.parent)
    # A file with the default name is replaced even if a student has put a link there.
    write_atomically(
        page, _utf_8(class_page.html(entries, page.parent, title=folder.resolve().name)), follow=bool(out)
    )
    write_atomically(page.with_suffix(".txt"), _utf_8(text), follow=False)
    print(visible(text), end="")
    tell(f"Written to {visible_line(page)} and {visible_line(page.with_suffix('.txt').name)}.")
    return 1 if any(entry.why for entry in entries) else 0


def _utf_8(text: str) -> bytes:
    # File names need not be UTF-8.
    return text.encode(errors="replace")


def gather(folder: Path, lab: str | None = None) -> list[Entry]:
    """Return an entry for each notebook of a course's submissions, or of a plain folder."""
    submitted = folder / "submitted"
    root = submitted if submitted.is_dir() else folder
    found = []
    for path, why in folders.notebooks(root):
        parts = path.relative_to(root).parts
        if not parts:
            raise UsageError(f"{visible_line(path)} {why}; check the path and try again.")
        of_lab = parts[1] if root == submitted and len(parts) > 2 else path.stem
        of_a_folder = why is not None and path.suffix != ".ipynb"  # a folder may hold any lab
        if lab is None or of_a_folder or lab in (of_lab, path.stem):
            student = parts[0] if len(parts) > 1 else path.stem
            one = (
                Entry(student, of_lab, None, f"{visible_line(path.name)} {why}.")
                if why
                else _entry(student, of_lab, path)
            )
            found.append(one)
    points = _points(folder)
    graded = [
        replace(
            one, points=points.get((one.student, one.lab)), feedback=_feedback(folder, one.student, one.lab)
        )
        for one in found
    ]
    return sorted(graded, key=lambda entry: (entry.student, entry.lab))


def _points(course: Path) -> dict[tuple[str, str], str]:
    """Return the points of each student and lab in the course's table of grades."""
    try:
        data = incoming.read_bytes(course / GRADES, most=incoming.MOST_OF_ANOTHERS, what="a table of grades")
        rows = list(csv.DictReader(io.StringIO(data.decode())))
    except (UsageError, UnicodeDecodeError, csv.Error):  # nothing was graded yet
        return {}
    return {
        (row["student_id"], row["assignment"]): _points_of(row)
        for row in rows
        if row.keys() >= {"student_id", "assignment", "score", "max_score"}
    }


def _points_of(row: Mapping[str, str]) -> str:
    try:
        left = float(row.get("open_points") or 0)
        points = f"{float(row['score']):g} of {float(row['max_score']):g}"
    except ValueError:
        return "cannot be read"
    return f"{points}, {left:g} open" if left else points


def _feedback(course: Path, student: str, lab: str) -> Path | None:
    pages = sorted((course / "feedback" / student / lab).glob("*.html"))
    return pages[0] if pages else None


def _entry(student: str, lab: str, path: Path) -> Entry:
    from jupyter_mlgpu.teach.commands import page as class_page

    try:
        notebook = read(path, follow=False)
        against = [
            *notebook.problems,
            *(one for cell in notebook.cells for one in find_inconsistencies(notebook, cell)),
        ]
        entry = Entry(student, lab, notebook, against=tuple(against))
        class_page.text([entry], path.parent)  # an entry that cannot be shown would break the whole report
        return entry
    except UsageError as error:
        return Entry(student, lab, None, str(error))
    except Exception as error:  # one bad file must not stop the reading of the others
        return Entry(
            student, lab, None, f"{visible_line(path.name)} cannot be read ({type(error).__name__}: {error})."
        )


def devices(entry: Entry) -> list[str]:
    """Return the devices that the notebook's operations ran on, from its records."""
    places = {one.device for record in entry.records for one in record.device.ran_on or ()}
    return sorted(places)


def devices_line(entries: Sequence[Entry]) -> str:
    """Return a sentence on the devices in all records, or that there are none."""
    seen = sorted({device for entry in entries for device in devices(entry)})
    if not seen:
        return "devices seen: none; only records of a framework name the device"
    return f"devices seen: {', '.join(seen)}"


def without_records(entries: Sequence[Entry]) -> list[Entry]:
    """Return the notebooks that could be read but hold no record."""
    return [entry for entry in entries if entry.notebook is not None and not entry.records]


def times(entries: Sequence[Entry]) -> list[Times]:
    """Return the wall times of each named cell that at least two students ran, in notebook order.

    The last of several records under one cell counts.
    """
    found: dict[tuple[str, str], Times] = {}
    for entry in entries:
        for cell in entry.notebook.cells if entry.notebook else ():
            if not cell.names:
                continue
            table = found.setdefault((entry.lab, cell.names[0]), Times(entry.lab, cell.names[0]))
            for saved in cell.saved:
                one = saved.record
                wall = next((each.value for each in one.readings if each.quantity == "wall_time"), None)
                if wall is not None and one.outcome == "ok" and one.mode == "light":
                    table.seconds[entry.student] = wall
    return [one for one in found.values() if len(one.seconds) > 1]


def common_notes(entries: Sequence[Entry]) -> list[tuple[str, str, int]]:
    """Return known log messages: verdict, meaning, and number of students, the most frequent first."""
    students: dict[tuple[str, str], set[str]] = defaultdict(set)
    for entry in entries:
        for record in entry.records:
            for line in record.logs:
                if line.meaning:
                    students[line.verdict, line.meaning].add(entry.student)
    ordered = Counter({key: len(names) for key, names in students.items()}).most_common()
    return [(verdict, meaning, count) for (verdict, meaning), count in ordered]


def worth_a_look(entries: Sequence[Entry]) -> list[str]:
    """Return sentences on inconsistencies of records, which need not be anybody's fault."""
    from jupyter_mlgpu.teach.submissions.inconsistencies import find_shared_records

    found = [f"{entry.student}: {one}" for entry in entries for one in entry.against]
    read_ones = [(f"{one.student} ({one.lab})", one.notebook) for one in entries if one.notebook is not None]
    found += [
        f"{first} and {second} hold {count} record{'s' if count != 1 else ''} of the same run: one notebook "
        "was made from the other after it ran."
        for first, second, count in find_shared_records(read_ones)
    ]
    return found
