"""HTML and SVG made of elements. Words are words here: whatever a stranger wrote, none of it becomes mark-up.

This is the one module that escapes, and the one that writes tags. Text given to an element is always
escaped, and only these functions make `Markup`, which is taken as it is. Plotly, which reads a little HTML
in its texts, gets them from `plotly_text`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from functools import cache
from html import escape

#: In every page that we write, besides what it may load: no other base for addresses, no form to fill in.
POLICY = "base-uri 'none'; form-action 'none'"

_NAME = re.compile(r"[a-z][a-z0-9-]*", re.IGNORECASE)
# What XML cannot hold, and HTML should not: control characters, halves of surrogate pairs, no characters.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
#: ASCII that can be printed, but for what `escape` escapes, and the marks of our own sentences.
_HARMLESS = re.compile("[ !#-%(-;=?-~\u00a0·µ…\u2060]*")
_ADDRESSES = ("/", "#", "https://", "http://", "data:image/")

_EMPTY = frozenset({"br", "img", "meta"})
_SHAPES = frozenset({"circle", "path", "rect"})
# What is inside is no text of a page, so that escaping it would change it; see `style` and `script`.
_NEVER = frozenset({"embed", "iframe", "object", "script", "style"})


class Markup:
    """A piece of HTML or SVG that the functions of this module made; `str` gives it as text."""

    __slots__ = ("_text",)

    _text: str

    def __init__(self) -> None:
        raise TypeError("Markup is made by the functions of jupyter_mlgpu.show.markup alone.")

    def __str__(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)


#: What stands inside an element: text and numbers, which are escaped, elements, and None for nothing.
Child = Markup | str | int | None


def element(name: str, /, *children: Child, **attributes: str | int | None) -> Markup:
    """An element. Attributes are written in the order given: `class_` is class, `text_anchor` text-anchor.

    An attribute of None is left out, and so is an address that is none of a page or a picture. Raises
    ValueError for names that could run or load something: those come from our code, never from data.
    """
    return _element(_holding_text(name), "".join(_pieces(children)), attributes)


def joined(*children: Child, between: str = "") -> Markup:
    """Text and elements one after another, with `between`, a text, between them."""
    if len(children) == 1 and isinstance(children[0], Markup):
        return children[0]
    return _made(_escaped(between).join(_pieces(children)))


def one_line(text: str) -> Markup:
    """A text whose line ends are kept without any in the source: a notebook file has a line for each."""
    return _made(_escaped(text).replace("\n", "&#10;"))


def coded(text: str) -> Markup:
    """As `one_line`, of a sentence: the names of code that it has between backticks are drawn as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without a second one is a text like any other
        parts[-2:] = ["`".join(parts[-2:])]
    pieces = (element("code", one_line(one)) if at % 2 else one_line(one) for at, one in enumerate(parts))
    return joined(*pieces)


def unended(name: str, /, *children: Child, **attributes: str | int | None) -> Markup:
    """An element without its end, which HTML lets out of rows and cells: a notebook holds many tables."""
    return _element(_holding_text(name), "".join(_pieces(children)), attributes, ended=False)


def bullets(items: Iterable[Child]) -> Markup:
    """A list with a bullet an item; nothing where there is none."""
    lines = [element("li", item) for item in items]
    return element("ul", *lines) if lines else joined()


def style(css: str) -> Markup:
    """A <style> element of our own; raises ValueError where the text would end it."""
    return _verbatim("style", css, {})


def image(svg: Markup, told: str) -> Markup:
    """A drawing as an image with its text: unlike bare SVG, notebooks show it before one trusts them."""
    data = base64.b64encode(svg._text.encode()).decode()
    return element("img", src=f"data:image/svg+xml;base64,{data}", alt=told.replace("`", ""))


def document(
    title: str, css: str, *body: Child, policy: str | None, language: str = "en", wide: bool = False
) -> str:
    """A page. `policy` says what it may load, where no header does; `wide` scales it to small screens."""
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
    """Lines for plotly, which shows <b> and <a href> in a text as such: these stay what they are.

    It shows `&quot;` as it is written, so quotes stay, too: within a text they end nothing.
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
    # Nearly all texts are as they should be, and asking that is quick: a receipt has a hundred of them.
    return text if _HARMLESS.fullmatch(text) else escape(_NO_TEXT.sub("\ufffd", text), quote)


def _element(
    name: str, inside: str, attributes: dict[str, str | int | None], *, ended: bool = True
) -> Markup:
    # Most have no attributes: each receipt has dozens, made while its cell is being answered.
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
