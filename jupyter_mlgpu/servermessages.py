"""What log messages mean in another language than the records', for the browser, from the server's own copy.

Records carry the English. A browser that speaks another language finds the rest here by the message's id,
also for a saved notebook without a kernel. Shipped with the browser's own files it would be half of them.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Any

from jupyter_server.base.handlers import APIHandler
from tornado import web

from jupyter_mlgpu.logs.catalogue import LANGUAGES, Catalogue

PATH = r"/jupyter-mlgpu/messages/(\w+)"


@cache
def messages(language: str) -> str:
    """All messages of the catalogue as JSON: meaning and advice by id, with `{fields}` in their places."""
    definitions = Catalogue.load().definitions
    texts = {name: definition.tables[language] for name, definition in definitions.items()}
    wanted = {name: {"meaning": one["meaning"], "advice": one["advice"]} for name, one in texts.items()}
    return json.dumps(wanted, ensure_ascii=False)


class MessagesHandler(APIHandler):
    """Answers with `messages`; 404 for a language that the catalogue lacks."""

    @web.authenticated
    async def get(self, language: str) -> None:
        """Read in a thread, for the server has kernels to serve: about a second the first time."""
        if language not in LANGUAGES:
            raise web.HTTPError(
                404, f"The messages are there in {', '.join(LANGUAGES)}, not in {language!r}."
            )
        text = await asyncio.to_thread(messages, language)
        self.set_header("Cache-Control", "private, max-age=3600")
        await self.finish(text)


def handlers(base_url: str) -> list[tuple[str, Any]]:
    """For the server's web application."""
    return [(base_url.rstrip("/") + PATH, MessagesHandler)]
