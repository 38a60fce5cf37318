"""Builds HTML and SVG from elements, and escapes all text in them.

This is the only module that escapes text or writes tags. Text given to an element is always escaped, and only
these functions make `Markup`, which is inserted unchanged. Plotly reads a little HTML in its texts: use
`plotly_text` for those.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from functools import cache
from html import escape

#: Added to the policy of every page that is written: no other base for addresses, no form to submit.
POLICY = "base-uri 'none'; form-action 'none'"

_NAME = re.compile(r"[a-z][a-z0-9-]*", re.IGNORECASE)
# Characters that XML cannot hold and HTML should not: control characters, lone surrogates, noncharacters.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
#: Printable ASCII without the characters that `escape` escapes, and the special characters of sentences.
_HARMLESS = re.compile("[ !#-%(-;=?-~\u00a0·µ…\u2060]*")
_ADDRESSES = ("/", "./", "#", "https://", "http://", "data:image/")

_EMPTY = frozenset({"br", "img", "meta"})
_SHAPES = frozenset({"circle", "path", "rect"})
# Their content is not text of a page, so escaping would change it. See `style`.
_NEVER = frozenset({"embed", "iframe", "object", "script", "style"})


class Markup:
    """A piece of HTML or SVG made by the functions of this module. `str` returns its text."""

    __slots__ = ("_text",)

    _text: str

    def __init__(self) -> None:
        raise TypeError("Markup is made by the functions of jupyter_mlgpu.show.markup alone.")

    def __str__(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)


#: The content of an element: text and numbers, which are escaped, elements, and None for nothing.
Child = Markup | str | int | None


def element(name: str, /, *children: Child, **attributes: str | int | None) -> Markup:
    """Return an element. Attributes keep their order; `class_` becomes class, `text_anchor` text-anchor.

    An attribute of None is left out, and so is an address that is neither a page's nor a picture's. Raises
    ValueError for names that could run or load something. Names come from the package's code, never from
    data.
    """
    return _element(_holding_text(name), "".join(_pieces(children)), attributes)


def joined(*children: Child, between: str = "") -> Markup:
    """Return text and elements one after another, with the text `between` between them."""
    if len(children) == 1 and isinstance(children[0], Markup):
        return children[0]
    return _made(_escaped(between).join(_pieces(children)))


def one_line(text: str) -> Markup:
    """Return a text with its line ends as character references.

    A notebook file would split it at line ends.
    """
    return _made(_escaped(text).replace("\n", "&#10;"))


def coded(text: str) -> Markup:
    """Return a sentence like `one_line`, with the names between backticks as code elements."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without a partner is ordinary text
        parts[-2:] = ["`".join(parts[-2:])]
    pieces = (element("code", one_line(one)) if at % 2 else one_line(one) for at, one in enumerate(parts))
    return joined(*pieces)


def unended(name: str, /, *children: Child, **attributes: str | int | None) -> Markup:
    """Return an element without its end tag, which HTML permits for rows and cells.

    This saves space in notebooks.
    """
    return _element(_holding_text(name), "".join(_pieces(children)), attributes, ended=False)


def bullets(items: Iterable[Child]) -> Markup:
    """Return a bulleted list, or nothing if there are no items."""
    lines = [element("li", item) for item in items]
    return element("ul", *lines) if lines else joined()


def style(css: str) -> Markup:
    """Return a <style> element with the package's CSS. Raises ValueError if the text would end it."""
    return _verbatim("style", css, {})


def script(code: str) -> Markup:
    """Return a <script> element with the package's code, never with data.

    Raises ValueError if the text would end it.
    """
    return _verbatim("script", code, {})


def image(svg: Markup, told: str) -> Markup:
    """Return a drawing as an image with a text alternative.

    Unlike bare SVG, notebooks show an image before they are trusted.
    """
    data = base64.b64encode(svg._text.encode()).decode()
    return element("img", src=f"data:image/svg+xml;base64,{data}", alt=told.replace("`", ""))


def document(
    title: str, css: str, *body: Child, policy: str | None, language: str = "en", wide: bool = False
) -> str:
    """Return a page. `policy` says what it may load if no header does; `wide` scales it to small screens."""
    head = [element("meta", charset="utf-8")]
    if policy is not None:
        content = f"{policy}; {POLICY}"
        head.append(_element("meta", "", {"http-equiv": "Content-Security-Policy", "content": content}))
    if wide:
        head.append(element("meta", name="viewport", content="width=device-width, initial-scale=1"))
    head += [element("title", title), style(css)]
    page = element(
        "html",
        "\n",
        element("head", "\n", joined(*head, between="\n"), "\n"),
        "\n",
        element("body", "\n", *body),
        "\n",
        lang=language,
    )
    return f"<!DOCTYPE html>\n{page}\n"


def plotly_text(*lines: str) -> str:
    """Return lines for plotly, which interprets <b> and <a href> in a text. They are escaped here.

    Quotes are not escaped, because plotly shows `&quot;` literally and a quote in a text ends nothing.
    """
    return "<br>".join(_escaped(line, quote=False) for line in lines)


def _made(text: str) -> Markup:
    made = object.__new__(Markup)
    made._text = text
    return made


def _pieces(children: Iterable[Child]) -> list[str]:
    return [
        child._text if isinstance(child, Markup) else _escaped(str(child))
        for child in children
        if child is not None
    ]


def _escaped(text: str, *, quote: bool = True) -> str:
    # Nearly all texts need no escaping, and this check is fast: a receipt has a hundred of them.
    return text if _HARMLESS.fullmatch(text) else escape(_NO_TEXT.sub("\ufffd", text), quote)


def _element(
    name: str, inside: str, attributes: dict[str, str | int | None], *, ended: bool = True
) -> Markup:
    # Most elements have no attributes. This is skipped for speed: a receipt has dozens of elements.
    written = _written(attributes) if attributes else ""
    if name in _SHAPES:
        return _made(f"<{name}{written}/>")
    end = f"</{name}>" if ended and name not in _EMPTY else ""
    return _made(f"<{name}{written}>{inside}{end}")


def _written(attributes: dict[str, str | int | None]) -> str:
    return "".join(
        f' {_attribute(key)}="{_escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None and (key not in ("href", "src") or str(value).startswith(_ADDRESSES))
    )


def _verbatim(name: str, text: str, attributes: dict[str, str | int | None]) -> Markup:
    if f"</{name}" in text.lower():
        raise ValueError(f"This text would end its <{name}>.")
    return _element(name, text, attributes)


@cache
def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an element or an attribute.")
    return name


@cache
def _holding_text(name: str) -> str:
    if _checked(name) in _NEVER:
        raise ValueError(f"<{name}> holds no text; write it with the function made for it.")
    return name


@cache
def _attribute(key: str) -> str:
    name = _checked(key.rstrip("_").replace("_", "-"))
    if name.lower().startswith("on") or name.lower() == "srcdoc":
        raise ValueError(f"{name!r} would run what is written in it.")
    return name
