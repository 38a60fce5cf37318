"""What a class's machines did, from the records saved in the notebooks. Nothing is run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_mlgpu.jupyter.cli.terminal import tell
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.visible import visible, visible_line
from jupyter_mlgpu.teach.submissions import Submission, find_inconsistencies, folders, read


@dataclass(frozen=True)
class Entry:
    """One student's notebook, or in one sentence why it could not be read.

    `against` are sentences that speak against its records.
    """

    student: str
    lab: str
    notebook: Submission | None
    why: str | None = None
    against: tuple[str, ...] = ()

    @property
    def records(self) -> tuple[Record, ...]:
        """The records saved in it, from its top to its end."""
        return () if self.notebook is None else self.notebook.records


@dataclass
class Times:
    """The wall times of one cell over the class, by student; light runs that ended well."""

    lab: str
    cell: str
    seconds: dict[str, float] = field(default_factory=dict)


def report(folder: Path, lab: str | None, out: Path | None) -> int:
    """Write the report and print its text; returns the exit status, 1 where a notebook could not be read."""
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
    text = class_page.text(entries)
    # A name that nobody typed is replaced itself, where a student has put a link there.
    write_atomically(page, _utf_8(class_page.html(entries, title=folder.resolve().name)), follow=bool(out))
    write_atomically(page.with_suffix(".txt"), _utf_8(text), follow=False)
    print(visible(text), end="")
    tell(f"Written to {visible_line(page)} and {visible_line(page.with_suffix('.txt').name)}.")
    return 1 if any(entry.why for entry in entries) else 0


def _utf_8(text: str) -> bytes:
    # Names of files need not be UTF-8.
    return text.encode(errors="replace")


def gather(folder: Path, lab: str | None = None) -> list[Entry]:
    """Every notebook of a course's submissions, or of a plain folder; what is broken is told."""
    submitted = folder / "submitted"
    root = submitted if submitted.is_dir() else folder
    found = []
    for path, why in folders.notebooks(root):
        parts = path.relative_to(root).parts
        if not parts:
            raise UsageError(f"{visible_line(path)} {why}; check the path and try again.")
        of_lab = parts[1] if root == submitted and len(parts) > 2 else path.stem
        of_a_folder = why is not None and path.suffix != ".ipynb"  # which may hold any lab
        if lab is None or of_a_folder or lab in (of_lab, path.stem):
            student = parts[0] if len(parts) > 1 else path.stem
            one = (
                Entry(student, of_lab, None, f"{visible_line(path.name)} {why}.")
                if why
                else _entry(student, of_lab, path)
            )
            found.append(one)
    return sorted(found, key=lambda entry: (entry.student, entry.lab))


def _entry(student: str, lab: str, path: Path) -> Entry:
    from jupyter_mlgpu.teach.commands import page as class_page

    try:
        notebook = read(path, follow=False)
        against = [
            *notebook.problems,
            *(one for cell in notebook.cells for one in find_inconsistencies(notebook, cell)),
        ]
        entry = Entry(student, lab, notebook, against=tuple(against))
        class_page.text([entry])  # what cannot be shown alone would cost the whole report
        return entry
    except UsageError as error:
        return Entry(student, lab, None, str(error))
    except Exception as error:  # whatever a file holds, the others are read
        return Entry(
            student, lab, None, f"{visible_line(path.name)} cannot be read ({type(error).__name__}: {error})."
        )


def devices(entry: Entry) -> list[str]:
    """The devices that operations of the notebook ran on, as its records say."""
    places = {one.device for record in entry.records for one in record.device.ran_on or ()}
    return sorted(places)


def without_records(entries: Sequence[Entry]) -> list[Entry]:
    """Notebooks that could be read and hold no record at all."""
    return [entry for entry in entries if entry.notebook is not None and not entry.records]


def times(entries: Sequence[Entry]) -> list[Times]:
    """The wall time of each named cell that at least two students ran, in the order of the notebook.

    Of several records under one cell the last counts.
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
    """Log messages whose meaning is known: verdict, meaning, and how many students had them; most first."""
    who: dict[tuple[str, str], set[str]] = defaultdict(set)
    for entry in entries:
        for record in entry.records:
            for line in record.logs:
                if line.meaning:
                    who[line.verdict, line.meaning].add(entry.student)
    ordered = Counter({key: len(students) for key, students in who.items()}).most_common()
    return [(verdict, meaning, count) for (verdict, meaning), count in ordered]


def worth_a_look(entries: Sequence[Entry]) -> list[str]:
    """What speaks against records, a sentence each. It need be nobody's fault."""
    from jupyter_mlgpu.teach.submissions.inconsistencies import shared

    found = [f"{entry.student}: {one}" for entry in entries for one in entry.against]
    read_ones = [(f"{one.student} ({one.lab})", one.notebook) for one in entries if one.notebook is not None]
    found += [
        f"{first} and {second} hold {count} record{'s' if count != 1 else ''} of the same run: one notebook "
        "was made from the other after it ran."
        for first, second, count in shared(read_ones)
    ]
    return found
