"""Identification of users by the hub's answer on a token or browser, never by the request's own claims."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tornado.web import HTTPError

from jupyter_mlgpu.record.sentence import Given
from jupyter_mlgpu.teach.teacher import texts

#: Seconds for which an answer of the hub is reused. A revoked token still works for that long.
TRUST_SECONDS = 60

_TOKEN = re.compile(r"(?:token|bearer) +([\x21-\x7e]{1,500})", re.IGNORECASE)


class RefusedError(HTTPError):
    """A refused request: an HTTP status, and the key of the sentence in `texts` with the reason."""

    def __init__(self, status: int, key: str, *, retry_after: int | None = None, **slots: Given) -> None:
        super().__init__(status, "%s", texts.say(key, **slots))
        self.key = key
        self.slots = slots
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Person:
    """A user of the hub, and True if they are in the group of the teachers."""

    name: str
    teaches: bool


async def sender(hub: Any, header: str, teachers: str) -> Person:
    """Return the owner of the token in the header Authorization; raises RefusedError.

    `hub` is JupyterHub's HubAuth.
    """
    found = _TOKEN.fullmatch(header.strip())
    if found is None:
        raise RefusedError(401, "no_token")
    try:
        model = await hub.user_for_token(found[1], sync=False)
    except Exception as error:  # the hub is down, or its answer breaks JupyterHub's own class
        raise RefusedError(503, "hub_silent", retry_after=60) from error
    if model is None:
        raise RefusedError(401, "unknown_token")
    return person(hub, model, teachers)


async def visitor(hub: Any, handler: Any, teachers: str) -> Person | None:
    """Return the user signed in to the browser, or None. `hub` is JupyterHub's HubOAuth.

    A token in the request is refused: a program in a teacher's notebook, perhaps a student's, has the token
    of the teacher's server, and is not the teacher.
    """
    if "Authorization" in handler.request.headers or "token" in handler.request.arguments:
        raise RefusedError(403, "browser_only")
    try:
        model = await hub.get_user(handler, sync=False)
    except Exception as error:
        raise RefusedError(503, "hub_silent", retry_after=60) from error
    return None if model is None else person(hub, model, teachers)


def person(hub: Any, model: Mapping[str, Any], teachers: str) -> Person:
    """Return the user that the hub describes.

    Raises RefusedError for a service, and for a user without access to our service.
    """
    if model.get("kind") != "user":
        raise RefusedError(403, "service", name=str(model.get("name")))
    if not hub.check_scopes(hub.access_scopes, model):
        raise RefusedError(403, "no_access", name=model["name"])
    return Person(model["name"], teachers in model.get("groups", ()))
