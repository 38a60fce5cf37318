"""What the card "Lessons" of JupyterLab's launcher asks the server for: where the first lesson is.

    POST jupyter-mlgpu/lessons/zh-CN  ->  {"first": "zh/00_start_here.ipynb",
                                           "said": {"text": "Copied 45 files to /home/ada/...", ...}}

Where the server's folder has no lessons, they are copied there as `jupyter mlgpu lessons` does; `said` is
then what it says, and null where they were there. What goes wrong is `{"why": {...}}`, with status 409.
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
#: The folder that they are copied to, below that of the server.
FOLDER = "jupyter_mlgpu-lessons"
#: Where else they may be: in a checkout, in the image of a class or Binder, where one has copied them.
PLACES = (FOLDER, ".", "notebooks", "jupyter_mlgpu/notebooks", "my-lessons", "lessons")


def opened(root: Path, language: str) -> tuple[Path, Sentence | None]:
    """The first lesson, below the server's folder, and what was done to have it; None where it was there.

    `language` is a code such as `zh-CN`; those that have no lessons get the English ones. Raises MlgpuError
    where they cannot be copied.
    """
    chosen = next((one for one in shipped.LANGUAGES if one == language[:2]), shipped.LANGUAGES[0])
    first = shipped.first(chosen)
    # Another course may begin with a notebook of that name; none has the second lesson, too.
    beside = first.with_name(sorted(path.name for path in shipped.files("en") if path.parent == Path())[1])
    for place in PLACES:
        if (root / place / first).is_file() and (root / place / beside).is_file():
            return Path(place) / first, None
    return Path(FOLDER) / first, copy(root / FOLDER, chosen).sentence


class LessonsHandler(APIHandler):
    """Answers with the first lesson, after having copied them where they were missing."""

    @web.authenticated
    async def post(self, language: str) -> None:
        """Copied in a thread, for the server has kernels to serve."""
        root = Path(self.settings["server_root_dir"]).expanduser()
        try:
            first, said = await asyncio.to_thread(opened, root, language)
        except MlgpuError as error:
            self.set_status(409)
            await self.finish(json.dumps({"why": to_json(of_error(error))}))
            return
        told = None if said is None else to_json(said)
        await self.finish(json.dumps({"first": first.as_posix(), "said": told}))


def handlers(base_url: str) -> list[tuple[str, Any]]:
    """For the server's web application."""
    return [(base_url.rstrip("/") + PATH, LessonsHandler)]
