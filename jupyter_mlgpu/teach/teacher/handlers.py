"""What the service answers: reports are taken at api/reports, pages are shown to browsers."""

from __future__ import annotations

import time
from typing import Any

from jupyterhub.services.auth import HubOAuth, HubOAuthCallbackHandler, HubOAuthenticated
from tornado.web import Application, HTTPError, RequestHandler, stream_request_body

from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.sentence import Given
from jupyter_mlgpu.teach.sharing.report import MAX_BYTES, from_bytes
from jupyter_mlgpu.teach.teacher import pages, texts
from jupyter_mlgpu.teach.teacher.allowance import Allowance
from jupyter_mlgpu.teach.teacher.keeping import Keeper
from jupyter_mlgpu.teach.teacher.people import Person, RefusedError, sender, visitor
from jupyter_mlgpu.teach.teacher.settings import Settings
from jupyter_mlgpu.teach.teacher.texts import language_of

#: Far beyond any body: the size of a report is watched here, where the answer can be a sentence.
_NO_LIMIT = 2**62
_KEYS = {404: "no_page", 405: "no_method"}


def application(settings: Settings, hub: HubOAuth, keeper: Keeper, secret: bytes) -> Application:
    """The web application under `settings.prefix`; cookies are signed with `secret`."""
    given = {"settings": settings, "hub": hub, "keeper": keeper}
    prefix = settings.prefix
    return Application(
        [
            (f"{prefix}api/reports", Reports, {**given, "allowance": Allowance()}),
            (f"{prefix}oauth_callback", HubOAuthCallbackHandler),
            (prefix, ClassPage, given),
            (f"{prefix}students/(.+)", StudentPage, given),
        ],
        default_handler_class=NoPage,
        cookie_secret=secret,
        log_function=_log_nothing,
    )


def _log_nothing(_: RequestHandler) -> None:
    """Refusals are logged with their sentences when they are raised; the rest would only name people."""


class _Answers(RequestHandler):
    """Every refusal is a sentence; no answer is kept by a browser or a proxy, or framed by another page."""

    def initialize(self, settings: Settings, hub: Any, keeper: Keeper) -> None:
        self._settings = settings
        self._hub_oauth = hub
        self._keeper = keeper

    def set_default_headers(self) -> None:
        self.set_header("Content-Security-Policy", pages.POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "same-origin")
        self.set_header("Cache-Control", "no-store")
        self.clear_header("Server")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """The sentence that belongs to a refusal, or to a failure of ours."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        if isinstance(error, RefusedError):
            if error.retry_after is not None:
                self.set_header("Retry-After", str(error.retry_after))
            self.refused(error.key, error.slots)
        else:
            self.refused(_KEYS.get(status_code, "failed"), {"method": self.request.method})

    def refused(self, key: str, slots: dict[str, Given]) -> None:
        """Write the sentence in the form of the other answers."""
        raise NotImplementedError


def _number(header: str) -> int:
    """A header's number; one of many digits is large, and what is none is tornado's to refuse."""
    return int(header[:18]) if header.isdecimal() else 0


@stream_request_body
class Reports(_Answers):
    """Takes a report of whoever the hub says that the token belongs to."""

    def initialize(self, settings: Settings, hub: Any, keeper: Keeper, allowance: Allowance) -> None:  # type: ignore[override]
        super().initialize(settings, hub, keeper)
        self._allowance = allowance
        self._body = bytearray()

    async def prepare(self) -> None:
        """Refuse what can be refused before the body is read."""
        connection: Any = self.request.connection
        connection.set_max_body_size(_NO_LIMIT)
        if self.request.method != "POST":
            raise HTTPError(405)
        if _number(self.request.headers.get("Content-Length", "")) > MAX_BYTES:
            raise RefusedError(413, "too_large", most=f"{MAX_BYTES:,}")
        if self.request.query:
            raise RefusedError(403, "no_query")
        header = self.request.headers.get("Authorization", "")
        self._person: Person = await sender(self._hub_oauth, header, self._settings.teachers)
        if seconds := self._allowance.wait(self._person.name, time.monotonic()):
            raise RefusedError(429, "too_many", seconds=seconds, retry_after=seconds)

    def data_received(self, chunk: bytes) -> None:
        """A piece of the body; one that is too much is answered, and nothing more is read."""
        if len(self._body) + len(chunk) <= MAX_BYTES:
            self._body += chunk
        elif self.get_status() != 413:
            self._body.clear()
            self.set_status(413)
            self.refused("too_large", {"most": f"{MAX_BYTES:,}"})

    async def post(self) -> None:
        """Keep the report, and say which records are kept."""
        try:
            report = from_bytes(bytes(self._body))
        except RecordError as error:
            raise RefusedError(400, "unreadable", why=error) from error
        kept = await self._keeper.take(self._person.name, report)
        self.finish({"acknowledged": list(kept)})

    def refused(self, key: str, slots: dict[str, Given]) -> None:
        self.finish({"error": texts.say(key, **slots)})


class _Page(HubOAuthenticated, _Answers):  # type: ignore[misc]
    """A page for a browser in which somebody is signed in; others are sent to the hub first."""

    async def prepare(self) -> None:
        """Find out who asks."""
        found = await visitor(self._hub_oauth, self, self._settings.teachers)
        if found is None:
            self.redirect(self.get_login_url())
        else:
            self._person: Person = found

    @property
    def _language(self) -> str:
        return language_of(self.request.headers.get("Accept-Language", ""))

    @property
    def _frame(self) -> pages.PageFrame:
        settings, person = self._settings, self._person
        return pages.PageFrame(
            self._language, settings.prefix, person.name, person.teaches, settings.keep_days
        )

    async def show_student(self, name: str) -> None:
        """The page of one student, for a teacher or for the student."""
        if not self._person.teaches and name != self._person.name:
            raise RefusedError(403, "not_yours", group=self._settings.teachers)
        student = await self._keeper.student(name)
        if student is None and name != self._person.name:
            raise RefusedError(404, "no_student")
        self.finish(pages.student_page(self._frame, name, student, time.time()))

    def refused(self, key: str, slots: dict[str, Given]) -> None:
        self.finish(pages.refusal_page(self._language, texts.say(key, self._language, **slots)))


class ClassPage(_Page):
    """The class, for a teacher; for a student, what is kept of them."""

    async def get(self) -> None:
        """Show it."""
        if not self._person.teaches:
            await self.show_student(self._person.name)
        else:
            students = await self._keeper.students()
            self.finish(pages.class_page(self._frame, students, time.time()))


class StudentPage(_Page):
    """One student."""

    async def get(self, name: str) -> None:
        """Show the student."""
        await self.show_student(name)


class NoPage(RequestHandler):
    """Any other address."""

    def prepare(self) -> None:
        """Say so."""
        self.set_status(404)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(texts.say("no_page", language_of(self.request.headers.get("Accept-Language", ""))))
