"""What the page, the kernel and the log say in another language than English, for browsers that speak it.

Records carry English templates. A browser that speaks another language finds its catalogue here, also for a
saved notebook without a kernel, and what log messages mean by their ids. Shipped with the browser's own
files, that would be half of them.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache, partial
from typing import Any

from jupyter_server.base.handlers import APIHandler
from tornado import web

from jupyter_mlgpu.explain.logs.catalogue import LANGUAGES, Catalogue
from jupyter_mlgpu.record import translation

PATH = r"/jupyter-mlgpu/(messages|texts)/([\w-]+)"


@cache
def messages(language: str) -> str:
    """All messages of the catalogue as JSON: meaning and advice by id, with `{fields}` in their places.

    Raises LookupError for a language that they are not there in.
    """
    chosen = next((one for one in LANGUAGES if one == language[:2]), None)
    if chosen is None:
        raise LookupError(language)
    definitions = Catalogue.load().definitions
    texts = {name: definition.tables[chosen] for name, definition in definitions.items()}
    wanted = {name: {"meaning": one["meaning"], "advice": one["advice"]} for name, one in texts.items()}
    return json.dumps(wanted, ensure_ascii=False)


@cache
def texts(language: str) -> str:
    """As JSON, the catalogue of a language: each English template, and its forms.

    Raises LookupError for a language that there is no catalogue for.
    """
    found = translation.messages(language)
    if not found:
        raise LookupError(language)
    return json.dumps({"messages": found}, ensure_ascii=False)


class LanguageHandler(APIHandler):
    """Answers with `messages` or `texts`; 404 for a language that there is not."""

    @web.authenticated
    async def get(self, what: str, language: str) -> None:
        """Read in a thread, for the server has kernels to serve: messages take a second the first time."""
        try:
            text = await asyncio.to_thread(partial(messages if what == "messages" else texts, language))
        except LookupError as error:  # English, too, which pages bring themselves
            raise web.HTTPError(404, f"There are no {what} in {language!r} here.") from error
        self.set_header("Cache-Control", "private, max-age=3600")
        await self.finish(text)


def handlers(base_url: str) -> list[tuple[str, Any]]:
    """For the server's web application."""
    return [(base_url.rstrip("/") + PATH, LanguageHandler)]
