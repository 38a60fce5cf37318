"""The lessons, their solutions and the labs, as they came with this package, in English and translated.

Those in another language are assembled where they are wanted; what came are their catalogues, each in the
place of its notebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.extras import install_line, installed
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.teach.packaged import LABS, LESSONS

#: Where a wheel has them (hatch_build.py), and where a checkout does.
PLACES = (Path(__file__).parent / "notebooks", Path(__file__).parents[3] / "notebooks")
#: English lessons stand at the top, those in other languages in folders of their names: a lesson speaks the
#: language that its folder is named after.
LANGUAGES = ("en", "zh")


def folder() -> Path:
    """Where they are; raises UsageError where they did not come along."""
    found = next((place for place in PLACES if any(place.glob("*.ipynb"))), None)
    if found is None:
        raise UsageError(
            say("The lessons are missing from this installation: reinstall jupyter_mlgpu from its wheel.")
        )
    return found


def files(language: str) -> Iterator[Path]:
    """What one needs for the lessons in a language, as paths within `folder()`, in the order of reading.

    The English lessons are always among them: the solutions are theirs, and link to them.
    """
    folders = ["", *([language] if language != "en" else []), "solutions"]
    yield from _found(Path(folder) / f"{lesson}.ipynb" for folder in folders for lesson in LESSONS)


def first(language: str) -> Path:
    """The lesson to begin with in a language, as a path within `folder()`."""
    return Path("" if language == "en" else language) / "00_start_here.ipynb"


def english_of(path: Path) -> Path:
    """Return the path of the English notebook for one of these paths, which may be English itself."""
    folder = "source" if path.parts[0] == "labs" else ""
    return Path(*(folder if part in LANGUAGES else part for part in path.parts))


def content(path: Path) -> bytes:
    """Return the bytes of the file at one of these paths."""
    english = english_of(path)
    data = (folder() / english).read_bytes()
    if english == path:
        return data
    from jupyter_mlgpu.teach.lessons.assembly import assembled  # which draws receipts

    (language,) = set(path.parts) & set(LANGUAGES)
    return assembled(data, folder() / path.with_suffix(".po"), language)


def labs(language: str) -> Iterator[Path]:
    """The labs as their teacher has them, with solutions and hidden tests, as paths within `folder()`."""
    place = Path("labs") / ("source" if language == "en" else language)
    yield from _found(place / lab / f"{lab}.ipynb" for lab in LABS)


def _found(paths: Iterable[Path]) -> Iterator[Path]:
    """Those that are there: the first lesson has no solutions."""
    for path in paths:
        came = path if path == english_of(path) else path.with_suffix(".po")
        if (folder() / came).is_file():
            yield path


def lacking() -> Sentence | None:
    """What this Python lacks to run them, and how to get it; None where it has it."""
    if installed("tensorflow"):
        return None
    bounded = registry.too_new_a_python("tensorflow")
    if bounded:
        return say(
            "The lessons compute with TensorFlow, and {bounded}: run them in a kernel with an older one.",
            bounded=bounded,
        )
    return say(
        "The lessons compute with TensorFlow, which is not installed in this Python; "
        "the kernel that runs them needs it: `{line}`.",
        line=install_line("lessons"),
    )
