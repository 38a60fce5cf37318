"""The server's answer to the card "Lessons" in JupyterLab's launcher: the path of the first lesson.

    POST jupyter-mlgpu/lessons/zh-CN  ->  {"first": "zh/00_start_here.ipynb",
                                           "said": {"text": "Copied 45 files to /home/ada/...", ...}}

If the server's folder has no lessons, they are copied there as `jupyter mlgpu lessons` does. `said` is then
that command's message; it is null if they existed. An error is `{"why": {...}}` with status 409.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import APIHandler
from tornado import web

from jupyter_mlgpu.record.decoding import to_json
from jupyter_mlgpu.record.errors import MlgpuError
from jupyter_mlgpu.record.sentence import Sentence, of_error
from jupyter_mlgpu.teach.commands.lessons import copy
from jupyter_mlgpu.teach.lessons import shipped

PATH = r"/jupyter-mlgpu/lessons/([\w-]+)"
#: The folder for copies, below that of the server.
FOLDER = "jupyter_mlgpu-lessons"
#: Folders that may already have the lessons: a checkout, the image of a class or of Binder, or an own copy.
PLACES = (FOLDER, ".", "notebooks", "jupyter_mlgpu/notebooks", "my-lessons", "lessons")
#: The second lesson, and the one that was second before.
SECONDS = ("01_reading_a_sick_machine", "01_adding_tensors")


def first_lesson(root: Path, language: str) -> tuple[Path, Sentence | None]:
    """Return the path of the first lesson, and a sentence if the lessons were copied, else None.

    The path is relative to the server's folder. `language` is a code such as `zh-CN`; languages without
    lessons get the English ones. Raises MlgpuError if they cannot be copied.
    """
    chosen = next((one for one in shipped.LANGUAGES if one == language[:2]), shipped.LANGUAGES[0])
    first = shipped.first(chosen)
    # Another course may begin with a notebook of that name, but it has no such second lesson.
    seconds = [first.with_name(f"{name}.ipynb") for name in SECONDS]
    for place in PLACES:
        if (root / place / first).is_file() and any((root / place / one).is_file() for one in seconds):
            return Path(place) / first, None
    return Path(FOLDER) / first, copy(root / FOLDER, chosen).sentence


class LessonsHandler(APIHandler):
    """Returns the first lesson, and copies the lessons first if they are missing."""

    @web.authenticated
    async def post(self, language: str) -> None:
        """Copy in a thread, so that the server can continue to serve kernels."""
        root = Path(self.settings["server_root_dir"]).expanduser()
        try:
            first, sentence = await asyncio.to_thread(first_lesson, root, language)
        except MlgpuError as error:
            self.set_status(409)
            await self.finish(json.dumps({"why": to_json(of_error(error))}))
            return
        message = None if sentence is None else to_json(sentence)
        await self.finish(json.dumps({"first": first.as_posix(), "said": message}))


def handlers(base_url: str) -> list[tuple[str, Any]]:
    """Return the handlers for the server's web application."""
    return [(base_url.rstrip("/") + PATH, LessonsHandler)]
