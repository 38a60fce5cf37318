"""The lessons, their solutions and the labs, as files of this installation, in English and translated.

Translated notebooks are assembled when they are needed, from the English one and the catalogue in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.extras import install_line, installed, too_new_a_python
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.teach.packaged import LABS, LESSONS

#: Their folder in an installed wheel (hatch_build.py), and in a checkout.
PLACES = (Path(__file__).parent / "notebooks", Path(__file__).parents[3] / "notebooks")
#: English lessons are in the top folder, translated ones in folders named after their language. A lesson's
#: messages are in the language of its folder.
LANGUAGES = ("en", "zh")
#: The newest Python for which the versions of the extra [lessons] were built.
NEWEST_PYTHON = (3, 12)


def folder() -> Path:
    """Return the folder with the lessons; raises UsageError if they are missing."""
    found = next((place for place in PLACES if any(place.glob("*.ipynb"))), None)
    if found is None:
        raise UsageError(
            say("The lessons are missing from this installation: reinstall jupyter_mlgpu from its wheel.")
        )
    return found


def files(language: str) -> Iterator[Path]:
    """Yield the paths of the lessons in a language, relative to `folder()`, in reading order.

    The English lessons are always included, because the solutions link to them.
    """
    folders = ["", *([language] if language != "en" else []), "solutions"]
    yield from _existing(Path(folder) / f"{lesson}.ipynb" for folder in folders for lesson in LESSONS)


def first(language: str) -> Path:
    """Return the path of the first lesson in a language, relative to `folder()`."""
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
    """Yield the paths of the labs with solutions and hidden tests, relative to `folder()`."""
    place = Path("labs") / ("source" if language == "en" else language)
    yield from _existing(place / lab / f"{lab}.ipynb" for lab in LABS)


def _existing(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the paths that exist; the first lesson, for example, has no solutions."""
    for path in paths:
        file = path if path == english_of(path) else path.with_suffix(".po")
        if (folder() / file).is_file():
            yield path


def missing_framework() -> Sentence | None:
    """Return a sentence on the missing framework and how to install it, or None if it is installed."""
    if installed("tensorflow"):
        return None
    bounded = too_new_a_python("lessons", NEWEST_PYTHON)
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
