"""Renders records of a saved notebook when the page has no kernel.

    POST jupyter-mlgpu/receipt {"record": {...}}             ->  {"lines": {...}, "places": [...], ...}
    POST jupyter-mlgpu/comparison {"a": {...}, "b": {...}}   ->  {"parts": [...], "headline": "...", ...}
    POST jupyter-mlgpu/answer {"records": [{...}, ...]}      ->  {"answer": {...}}

A record is sent as its receipt contains it, with the counts of left-out parts. The answers have the formats
of `show/receipts/view.py` and `show/page/view.py`, as from a kernel. The notebook's author may have changed
the record, so invalid ones are refused with 400 and a sentence that says why.
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

#: Most bytes of a request: a receipt has at most 64 kB, and a record from another page a megabyte.
MOST_BYTES = 4_000_000


def receipt(request: Mapping[str, Any]) -> object:
    """Return the open receipt of the given record; raises MlgpuError if it is invalid."""
    from jupyter_mlgpu.show.receipts import view

    data = request.get("record")
    return to_json(view.data(Record.from_json(data), _cut(data)), texts=False)


def comparison(request: Mapping[str, Any]) -> object:
    """Return the page that compares two records; raises MlgpuError if one is invalid."""
    from jupyter_mlgpu.explain.comparing.compare import compare, side_names
    from jupyter_mlgpu.record import cellnumbers
    from jupyter_mlgpu.show.comparing import page
    from jupyter_mlgpu.show.page import view

    a, b = (Record.from_json(request.get(side)) for side in "ab")
    compared = compare([a], [b], names=side_names(cellnumbers.name(a), cellnumbers.name(b)))
    # Without the chart: the sidebar is narrow, and the table matters most.
    return to_json(view.data(replace(page.page(compared), charts=())), texts=False)


def answer(request: Mapping[str, Any]) -> object:
    """Return one sentence about all cells of a notebook; raises MlgpuError if a record is invalid."""
    from jupyter_mlgpu.show.receipts import notebook_answer

    records = request.get("records")
    known = [Record.from_json(one) for one in records] if isinstance(records, list) else []
    return {"answer": to_json(notebook_answer.newest_in_words(known), texts=False)}


def _cut(data: object) -> dict[str, int]:
    cut = data.get("cut") if isinstance(data, dict) else None
    counts = cut.items() if isinstance(cut, dict) else ()
    return {part: count for part, count in counts if type(count) is int and count > 0}


ANSWERS = {"receipt": receipt, "comparison": comparison, "answer": answer}


class ReceiptHandler(APIHandler):
    """Answers with an open receipt, a comparison, or a sentence."""

    @web.authenticated
    async def post(self, what: str) -> None:
        """Send the answer. It is made in a thread, because the server must go on."""
        if len(self.request.body) > MOST_BYTES:
            raise web.HTTPError(413, f"A record of more than {MOST_BYTES} bytes is not read.")
        try:
            answer = await asyncio.to_thread(_answer, what, self.request.body)
        except (MlgpuError, ValueError, RecursionError) as error:
            raise web.HTTPError(400, str(error)) from error
        self.set_header("Cache-Control", "no-store")
        await self.finish(answer)


def _answer(what: str, body: bytes) -> str:
    request = json.loads(body)
    if not isinstance(request, dict):
        raise ValueError("A question is an object.")
    return json.dumps(ANSWERS[what](request))


def handlers(base_url: str) -> list[tuple[str, Any]]:
    """Return the handlers for the server's web application."""
    return [(rf"{base_url.rstrip('/')}/jupyter-mlgpu/({'|'.join(ANSWERS)})", ReceiptHandler)]
