"""Parts of a lesson's output, as HTML and as text for a terminal."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.markup import Markup, element, image, joined
from jupyter_mlgpu.show.page import html, text
from jupyter_mlgpu.show.page.model import Table, with_head

#: Rows of a table; the first one is the header.
Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ShownValue:
    """A table (`rows`), or a picture as SVG with a description in words."""

    caption: str = ""
    rows: Rows = ()
    drawing: Markup | None = None
    words: str = ""

    @property
    def svg(self) -> str:
        """The picture as text; empty if there is none."""
        return str(self.drawing or "")

    def text(self) -> list[str]:
        """Return lines for a terminal."""
        return [*map(translate, filter(None, [self.caption, self.words])), *text.table(self._table())]

    def html(self) -> Markup:
        """Return HTML, with the picture as an image."""
        return joined(
            element("div", translate(self.caption)) if self.caption else None,
            image(self.drawing, translate(self.words)) if self.drawing is not None else None,
            element("div", translate(self.words)) if self.words else None,
            html.table(self._table()),
        )

    def _table(self) -> Table:
        return with_head(tuple(tuple(map(translate, row)) for row in self.rows))


def number(value: complex) -> str:
    """Return a number with six significant digits; integers and booleans are unchanged."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value}"
    return f"{value:.6g}"


def yes(one: bool) -> Sentence:
    return say("yes") if one else say("no")
