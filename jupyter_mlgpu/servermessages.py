"""What the page, the kernel and the log say in another language than English, for browsers that speak it.

Records carry English. A browser that speaks another language finds the rest here, also for a saved notebook
without a kernel: the sidebar's own texts, the kernel's sentences by their templates, and what log messages
mean by their ids. Shipped with the browser's own files, that would be half of them.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache, partial
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import APIHandler
from tornado import web

from jupyter_mlgpu import sentences
from jupyter_mlgpu.logs.catalogue import LANGUAGES, Catalogue

PATH = r"/jupyter-mlgpu/(messages|texts)/(\w+)"
#: The sidebar's texts, as labextension/bundle.mjs writes them.
TEXTS = Path(__file__).parent / "notebook" / "static"


@cache
def messages(language: str) -> str:
    """All messages of the catalogue as JSON: meaning and advice by id, with `{fields}` in their places."""
    definitions = Catalogue.load().definitions
    texts = {name: definition.tables[language] for name, definition in definitions.items()}
    wanted = {name: {"meaning": one["meaning"], "advice": one["advice"]} for name, one in texts.items()}
    return json.dumps(wanted, ensure_ascii=False)


@cache
def texts(language: str) -> str:
    """As JSON, `texts` of the sidebar by name, and `sentences` of the kernel by their English templates.

    Raises FileNotFoundError where the browser's part has not been built.
    """
    of_the_page = json.loads((TEXTS / f"texts.{language}.json").read_text(encoding="utf-8"))
    return json.dumps({"texts": of_the_page, "sentences": sentences.load(language)}, ensure_ascii=False)


class LanguageHandler(APIHandler):
    """Answers with `messages` or `texts`; 404 for a language that there is not."""

    @web.authenticated
    async def get(self, what: str, language: str) -> None:
        """Read in a thread, for the server has kernels to serve: messages take a second the first time."""
        if language not in LANGUAGES:
            raise web.HTTPError(404, f"The {what} are there in {', '.join(LANGUAGES)}, not in {language!r}.")
        try:
            text = await asyncio.to_thread(partial(messages if what == "messages" else texts, language))
        except FileNotFoundError as error:  # English, which pages bring themselves, or no build
            raise web.HTTPError(404, f"There are no {what} in {language!r} here.") from error
        self.set_header("Cache-Control", "private, max-age=3600")
        await self.finish(text)


def handlers(base_url: str) -> list[tuple[str, Any]]:
    """For the server's web application."""
    return [(base_url.rstrip("/") + PATH, LanguageHandler)]
