"""The service's request handlers: reports are posted to api/reports, pages are shown to browsers."""

from __future__ import annotations

import time
from typing import Any

from jupyterhub.services.auth import HubOAuth, HubOAuthCallbackHandler, HubOAuthenticated
from tornado.web import Application, HTTPError, RequestHandler, stream_request_body

from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.sentence import Given
from jupyter_mlgpu.teach.sharing.report import MAX_BYTES, from_bytes
from jupyter_mlgpu.teach.teacher import frame, pages, texts
from jupyter_mlgpu.teach.teacher.allowance import Allowance
from jupyter_mlgpu.teach.teacher.keeping import Keeper
from jupyter_mlgpu.teach.teacher.people import Person, RefusedError, sender, visitor
from jupyter_mlgpu.teach.teacher.settings import Settings
from jupyter_mlgpu.teach.teacher.texts import language_of

#: Far beyond any body. The handler checks the size of a report itself, to answer with a sentence.
_NO_LIMIT = 2**62
_KEYS = {404: "no_page", 405: "no_method"}


def application(settings: Settings, hub: HubOAuth, keeper: Keeper, secret: bytes) -> Application:
    """Return the web application under `settings.prefix`; cookies are signed with `secret`."""
    arguments = {"settings": settings, "hub": hub, "keeper": keeper}
    prefix = settings.prefix
    return Application(
        [
            (f"{prefix}api/reports", Reports, {**arguments, "allowance": Allowance()}),
            (f"{prefix}oauth_callback", HubOAuthCallbackHandler),
            (prefix, ClassPage, arguments),
            (f"{prefix}students/(.+)", StudentPage, arguments),
        ],
        default_handler_class=NoPage,
        cookie_secret=secret,
        log_function=_log_nothing,
    )


def _log_nothing(_: RequestHandler) -> None:
    """Log nothing: refusals are logged when they are raised, and other requests would only name users."""


class _Handler(RequestHandler):
    """A handler whose errors are sentences.

    No answer may be cached by a browser or a proxy, or framed by another page.
    """

    def initialize(self, settings: Settings, hub: Any, keeper: Keeper) -> None:
        self._settings = settings
        self._hub_oauth = hub
        self._keeper = keeper

    def set_default_headers(self) -> None:
        self.set_header("Content-Security-Policy", frame.POLICY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "same-origin")
        self.set_header("Cache-Control", "no-store")
        self.clear_header("Server")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Write the sentence of a refusal, or of an internal error."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        if isinstance(error, RefusedError):
            if error.retry_after is not None:
                self.set_header("Retry-After", str(error.retry_after))
            self.write_refusal(error.key, error.slots)
        else:
            self.write_refusal(_KEYS.get(status_code, "failed"), {"method": self.request.method})

    def write_refusal(self, key: str, slots: dict[str, Given]) -> None:
        """Write the sentence in the format of the other answers."""
        raise NotImplementedError


def _number(header: str) -> int:
    """Return a header's number; very long ones count as large, and invalid ones are left to tornado."""
    return int(header[:18]) if header.isdecimal() else 0


@stream_request_body
class Reports(_Handler):
    """Accepts reports from the user to whom the hub says that the token belongs."""

    def initialize(self, settings: Settings, hub: Any, keeper: Keeper, allowance: Allowance) -> None:  # type: ignore[override]
        super().initialize(settings, hub, keeper)
        self._allowance = allowance
        self._body = bytearray()

    async def prepare(self) -> None:
        """Refuse a bad request before the body is read."""
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
        """Read a part of the body; if it is too large, refuse the request and stop reading."""
        if len(self._body) + len(chunk) <= MAX_BYTES:
            self._body += chunk
        elif self.get_status() != 413:
            self._body.clear()
            self.set_status(413)
            self.write_refusal("too_large", {"most": f"{MAX_BYTES:,}"})

    async def post(self) -> None:
        """Store the report, and answer with the ids of the stored records."""
        try:
            report = from_bytes(bytes(self._body))
        except RecordError as error:
            raise RefusedError(400, "unreadable", why=error) from error
        kept = await self._keeper.take(self._person.name, report)
        self.finish({"acknowledged": list(kept)})

    def write_refusal(self, key: str, slots: dict[str, Given]) -> None:
        self.finish({"error": texts.say(key, **slots)})


class _Page(HubOAuthenticated, _Handler):  # type: ignore[misc]
    """A page for a signed-in user; other browsers are redirected to the hub first."""

    async def prepare(self) -> None:
        """Identify the user."""
        found = await visitor(self._hub_oauth, self, self._settings.teachers)
        if found is not None:
            self._person: Person = found
        elif "X-Requested-With" in self.request.headers:  # the page's script, which cannot sign anybody in
            raise RefusedError(401, "signed_out")
        else:
            self.redirect(self.get_login_url())

    @property
    def _language(self) -> str:
        return language_of(self.request.headers.get("Accept-Language", ""))

    @property
    def _frame(self) -> frame.PageFrame:
        settings, person = self._settings, self._person
        return frame.PageFrame(
            self._language,
            settings.prefix,
            person.name,
            person.teaches,
            settings.keep_days,
            self.xsrf_token.decode("ascii"),
        )

    async def show_student(self, name: str) -> None:
        """Show the page of one student to a teacher or to the student."""
        if not self._person.teaches and name != self._person.name:
            raise RefusedError(403, "not_yours", group=self._settings.teachers)
        student = await self._keeper.student(name)
        if student is None and name != self._person.name:
            raise RefusedError(404, "no_student")
        self.finish(pages.student_page(self._frame, name, student, time.time()))

    def write_refusal(self, key: str, slots: dict[str, Given]) -> None:
        self.finish(frame.refusal_page(self._language, texts.say(key, self._language, **slots)))


class ClassPage(_Page):
    """The page of the class for a teacher; for a student, the page of their own data."""

    async def get(self) -> None:
        """Show the page."""
        if not self._person.teaches:
            await self.show_student(self._person.name)
        else:
            students = await self._keeper.students()
            self.finish(pages.class_page(self._frame, students, time.time()))


class StudentPage(_Page):
    """The page of one student."""

    async def get(self, name: str) -> None:
        """Show the page."""
        await self.show_student(name)


class NoPage(RequestHandler):
    """The answer for all other addresses."""

    def prepare(self) -> None:
        """Refuse the request."""
        self.set_status(404)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(texts.say("no_page", language_of(self.request.headers.get("Accept-Language", ""))))
