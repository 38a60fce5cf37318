"""Puts records that stand in a notebook into words, for a page that has no kernel to ask.

    POST jupyter-mlgpu/receipt {"record": {...}}             ->  {"lines": {...}, "places": [...], ...}
    POST jupyter-mlgpu/comparison {"a": {...}, "b": {...}}   ->  {"parts": [...], "headline": "...", ...}

A record is sent as its receipt has it, with what was cut; the answers are those of `show/receipts/view.py`
and `show/page/view.py`, as a kernel gives them. Whoever wrote the notebook wrote the record: what is none is
refused with 400 and a sentence that says why.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jupyter_server.base.handlers import APIHandler
from tornado import web

from jupyter_mlgpu.record.decoding import to_json
from jupyter_mlgpu.record.errors import MlgpuError
from jupyter_mlgpu.record.record import Record

#: Bytes of a question: a receipt has at most 64 kB, and a record of another page a megabyte.
MOST_BYTES = 4_000_000


def receipt(asked: Mapping[str, Any]) -> object:
    """The open receipt of the record that is asked for; raises MlgpuError where it is none."""
    from jupyter_mlgpu.show.receipts import view

    data = asked.get("record")
    return to_json(view.data(Record.from_json(data), _cut(data)), texts=False)


def comparison(asked: Mapping[str, Any]) -> object:
    """The page on which two records are compared; raises MlgpuError where one is none."""
    from jupyter_mlgpu.explain.comparing.compare import compare
    from jupyter_mlgpu.show.comparing import page
    from jupyter_mlgpu.show.page import view

    first, second = ([Record.from_json(asked.get(side))] for side in "ab")
    # In the narrow sidebar a reader wants the table.
    return to_json(view.data(replace(page.page(compare(first, second)), charts=())), texts=False)


def _cut(data: object) -> dict[str, int]:
    cut = data.get("cut") if isinstance(data, dict) else None
    counts = cut.items() if isinstance(cut, dict) else ()
    return {part: count for part, count in counts if type(count) is int and count > 0}


ANSWERS = {"receipt": receipt, "comparison": comparison}


class ReceiptHandler(APIHandler):
    """Answers with an open receipt, or a comparison."""

    @web.authenticated
    async def post(self, what: str) -> None:
        """Made in a thread, for the server has kernels to serve."""
        if len(self.request.body) > MOST_BYTES:
            raise web.HTTPError(413, f"A record of more than {MOST_BYTES} bytes is not read.")
        try:
            told = await asyncio.to_thread(_answer, what, self.request.body)
        except (MlgpuError, ValueError, RecursionError) as error:
            raise web.HTTPError(400, str(error)) from error
        self.set_header("Cache-Control", "no-store")
        await self.finish(told)


def _answer(what: str, body: bytes) -> str:
    asked = json.loads(body)
    if not isinstance(asked, dict):
        raise ValueError("A question is an object.")
    return json.dumps(ANSWERS[what](asked))


def handlers(base_url: str) -> list[tuple[str, Any]]:
    """For the server's web application."""
    return [(rf"{base_url.rstrip('/')}/jupyter-mlgpu/({'|'.join(ANSWERS)})", ReceiptHandler)]
