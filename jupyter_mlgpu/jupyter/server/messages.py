"""Serves translations of the page's, the kernel's and the log messages' texts to browsers.

Records carry English templates. A browser in another language gets the catalogue from here, also for a saved
notebook without a kernel, and the meanings of log messages by their ids. They are not part of the browser's
own files because they would be half of them.
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
    """Return all messages of the catalogue as JSON: meaning and advice by id, with `{fields}` in place.

    Raises LookupError for a language without these messages.
    """
    chosen = next((one for one in LANGUAGES if one == language[:2]), None)
    if chosen is None:
        raise LookupError(language)
    definitions = Catalogue.load().definitions
    texts = {name: definition.tables[chosen] for name, definition in definitions.items()}
    translations = {name: {"meaning": one["meaning"], "advice": one["advice"]} for name, one in texts.items()}
    return json.dumps(translations, ensure_ascii=False)


@cache
def texts(language: str) -> str:
    """Return the catalogue of a language as JSON: each English template with its translations.

    Raises LookupError for a language without a catalogue.
    """
    catalogue = translation.messages(language)
    if not catalogue:
        raise LookupError(language)
    return json.dumps({"messages": catalogue}, ensure_ascii=False)


class LanguageHandler(APIHandler):
    """Answers with `messages` or `texts`; 404 for an unknown language."""

    @web.authenticated
    async def get(self, what: str, language: str) -> None:
        """Send the texts. Reads them in a thread, because the first messages take a second."""
        try:
            text = await asyncio.to_thread(partial(messages if what == "messages" else texts, language))
        except LookupError as error:  # also English, which is part of the page
            raise web.HTTPError(404, f"There are no {what} in {language!r} here.") from error
        self.set_header("Cache-Control", "private, max-age=3600")
        await self.finish(text)


def handlers(base_url: str) -> list[tuple[str, Any]]:
    """Return the handlers for the server's web application."""
    return [(base_url.rstrip("/") + PATH, LanguageHandler)]
