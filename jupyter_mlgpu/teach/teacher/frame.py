"""The parts that all pages have in common: style, script, policy, header and footer.

The script, live.js, updates a page in place. Without it the page has the same content and a link to reload.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from jupyter_mlgpu.record.sentence import Given
from jupyter_mlgpu.show import markup
from jupyter_mlgpu.show.markup import Child, Markup, document, element, joined
from jupyter_mlgpu.teach.teacher import texts

#: Seconds between two updates of a page: a student's kernel sends at most every ten.
EVERY = 5

_STYLE = """
:root { color-scheme: light dark; overflow-anchor: none; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
caption { text-align: left; font-weight: bold; padding: .5rem 0; }
header { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: baseline; }
header p { margin: 0; }
button { font: inherit; margin-left: .5rem; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; vertical-align: top;
  font-variant-numeric: tabular-nums; border-bottom: 1px solid; }
ul { margin: 0; padding-left: 1.2rem; }
a:focus-visible, .wide:focus-visible { outline: 3px solid; outline-offset: 2px; }
"""
_SCRIPT = Path(__file__).with_name("live.js").read_text(encoding="utf-8")


def _source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


#: The header Content-Security-Policy: a page may load and run nothing but its style and its script, which may
#: ask this server alone.
POLICY = (
    f"default-src 'none'; style-src {_source(_STYLE)}; script-src {_source(_SCRIPT)}; connect-src 'self'; "
    f"{markup.POLICY}; frame-ancestors 'none'"
)
_CODES = {"en": "en", "zh": "zh-Hans"}


@dataclass(frozen=True, slots=True)
class PageFrame:
    """The common parts of every page: language, the service's prefix, the user, and the retention time.

    `xsrf` is the token that JupyterHub wants with a request of the page's script.
    """

    language: str
    prefix: str
    person: str
    teaches: bool
    keep_days: int
    xsrf: str

    def say(self, key: str, **slots: Given) -> str:
        """Return a text in the page's language."""
        return texts.say(key, self.language, **slots)

    def page(self, title: str, body: Sequence[Child], now: float, here: str) -> str:
        """Return a whole page. `here` is the address to reload."""
        links = [element("a", self.say("refresh"), href=here)]
        if self.teaches and here != self.prefix:
            links.append(element("a", self.say("to_class"), href=self.prefix))
        name = element("p", self.say("signed_in", name=self.person))
        parts = [
            element("header", name, "\n", element("nav", joined(*links, between=" | ")), "\n", self._live()),
            element(
                "main",
                joined(
                    element("h1", title),
                    element("p", self.say("as_of", now=moment(now))),
                    *body,
                    between="\n",
                ),
                "\n",
            ),
            element("footer", element("p", self.say("kept", days=self.keep_days))),
            markup.script(_SCRIPT),
        ]
        return _document(self.language, title, parts)

    def _live(self) -> Markup:
        """Return the line about updates, which the script shows: a status, and a button that pauses them."""
        return element(
            "p",
            element("span", role="status"),
            element("button", type="button"),
            id="live",
            hidden="",
            data_seconds=EVERY,
            data_xsrf=self.xsrf,
            data_on=self.say("live_on", seconds=EVERY),
            data_paused=self.say("live_paused"),
            data_lost=self.say("live_lost", seconds=EVERY),
            data_signed_out=self.say("signed_out"),
            data_pause=self.say("pause"),
            data_resume=self.say("resume"),
        )


def refusal_page(language: str, sentence: str) -> str:
    """Return a page with one sentence, given as plain text."""
    return _document(language, sentence, [element("main", element("p", sentence))])


def _document(language: str, title: str, parts: Sequence[Markup]) -> str:
    # A header sets what the page may load, and no page can leave it out.
    body = joined(*parts, between="\n")
    return document(title, _STYLE, body, "\n", policy=None, language=_CODES[language], wide=True)


def moment(seconds: float) -> str:
    """Return a time, given in seconds since 1970, as text in UTC."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):  # a clock set thousands of years ahead
        return f"{seconds:.0f} s"
