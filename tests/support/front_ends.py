"""Public fakes of the sanitizers that notebooks pass through, and what a reader sees of what remains.

Each is an allow-list, copied by hand from the source that it names. GitHub's renderer of notebooks is not
published; its list is that of html-pipeline, which GitHub has published for Markdown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser

Attributes = list[tuple[str, str | None]]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VOID = frozenset({"br", "hr", "img", "meta", "wbr"})
#: Elements that begin a new line. `summary` and `details` do so where they are kept.
_BLOCKS = _names(
    "article blockquote br caption details div dl dt dd figure h1 h2 h3 h4 h5 h6 hr li main ol p pre "
    "summary table tr ul"
)
_CELLS = frozenset({"td", "th"})


@dataclass(frozen=True)
class Sanitizer:
    """An allow-list of elements and attributes. Of other elements the text remains."""

    elements: frozenset[str]
    #: The attributes of an element, those of every element under `*`.
    attributes: Mapping[str, frozenset[str]]
    #: The properties that a style attribute keeps, if that is allowed.
    properties: frozenset[str] = frozenset()
    #: Whether an image may hold its data in its address.
    data_images: bool = False
    #: Elements that are removed with their text.
    without_text: frozenset[str] = frozenset({"head", "script", "style"})

    def clean(self, html: str) -> str:
        """Return what remains of HTML."""
        return _Cleaner(self, html).cleaned

    def kept(self, tag: str, attributes: Attributes) -> Attributes:
        """Return the attributes that remain of an element's."""
        allowed = self.attributes.get("*", frozenset()) | self.attributes.get(tag, frozenset())
        found: Attributes = []
        for name, value in attributes:
            if name not in allowed or (
                name == "src" and (value or "").startswith("data:") and not self.data_images
            ):
                continue
            if name == "style":
                value = ";".join(
                    one
                    for one in (value or "").split(";")
                    if one.partition(":")[0].strip() in self.properties
                )
            if value or name != "style":
                found.append((name, value))
        return found


class _Cleaner(HTMLParser):
    def __init__(self, rules: Sanitizer, html: str) -> None:
        super().__init__()
        self._rules = rules
        self._inside: list[str] = []
        self.cleaned = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag in self._rules.without_text:
            self._inside.append(tag)
        elif self._inside:
            return
        elif tag in self._rules.elements:
            written = "".join(
                f' {name}="{escape(value or "")}"' for name, value in self._rules.kept(tag, attrs)
            )
            self.cleaned += f"<{tag}{written}>"

    def handle_endtag(self, tag: str) -> None:
        if self._inside:
            if tag == self._inside[-1]:
                self._inside.pop()
        elif tag in self._rules.elements:
            self.cleaned += "" if tag in _VOID else f"</{tag}>"

    def handle_data(self, data: str) -> None:
        self.cleaned += "" if self._inside else escape(data, quote=False)


def lines(html: str, *, descriptions: bool = True) -> list[str]:
    """Return the lines that a reader sees, all folds open: a row of a table is a line with tabs.

    An image that has lost its address is its description, unless `descriptions` is False.
    """
    return [line for line in _Lines(html, descriptions).read() if line]


def words(html: str) -> list[str]:
    """Return the words that a reader sees, in their order, without descriptions of images."""
    return " ".join(lines(html, descriptions=False)).split()


def images(html: str) -> list[tuple[str | None, str]]:
    """Return the address and the description of each image."""
    return _Lines(html, True).images


class _Lines(HTMLParser):
    def __init__(self, html: str, descriptions: bool) -> None:
        super().__init__()
        self._descriptions = descriptions
        self._text = ""
        self._hidden = 0
        self.images: list[tuple[str | None, str]] = []
        self.feed(html)
        self.close()

    def read(self) -> list[str]:
        """Return the lines, with runs of blanks as one blank."""
        together = self._text.replace("\N{WORD JOINER}", "").replace("\N{NO-BREAK SPACE}", " ")
        return ["\t".join(" ".join(one.split()) for one in line.split("\t")) for line in together.split("\n")]

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag in ("style", "script", "head"):
            self._hidden += 1
        if tag == "img":
            found = dict(attrs)
            self.images.append((found.get("src"), found.get("alt") or ""))
            if self._descriptions and not found.get("src"):
                self._text += found.get("alt") or ""
        elif tag in _BLOCKS:
            self._text += "\n"
        elif tag in _CELLS and not self._text.endswith("\n"):
            self._text += "\t"

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("style", "script", "head")
        if tag in _BLOCKS:
            self._text += "\n"

    def handle_data(self, data: str) -> None:
        # A line end in the source is a blank for a reader, and so is a tab.
        self._text += "" if self._hidden else data.replace("\n", " ").replace("\t", " ")


#: https://github.com/gjtorikian/html-pipeline, lib/html_pipeline/sanitization_filter.rb at 28c8372: no style,
#: no class, no svg, no address that begins with `data:`.
HTML_PIPELINE = Sanitizer(
    _names(
        "h1 h2 h3 h4 h5 h6 br b i strong em a pre code img tt div ins del sup sub p ol ul table thead tbody "
        "tfoot blockquote dl dt dd kbd q samp var hr ruby rt rp li tr td th s strike summary details caption "
        "figure figcaption abbr bdo cite dfn mark small span time wbr"
    ),
    {
        "*": _names(
            "abbr align alt aria-hidden aria-label border colspan color dir height id label lang name open "
            "role rows rowspan scope size span start summary tabindex title type valign value width"
        ),
        "a": frozenset({"href"}),
        "img": frozenset({"src"}),
    },
)

#: GitHub's page of a notebook by the reports of its users: pictures with data are shown
#: (activeviam/atoti-notebooks#425, 2021), and folds are open, without marks (volkamerlab/teachopencadd#189,
#: 2021).
GITHUB_NOTEBOOK = Sanitizer(
    HTML_PIPELINE.elements - {"details", "summary", "caption", "small"},
    HTML_PIPELINE.attributes,
    data_images=True,
)

#: `@jupyterlab/apputils` 4.5.0, lib/sanitizer.js, for notebooks that are not trusted. It checks values of
#: properties, too; `overflow-wrap:anywhere` is the only one of ours that it refuses.
JUPYTERLAB_UNTRUSTED = Sanitizer(
    _names(
        "a abbr article b blockquote br caption cite code dd del details div dl dt em figure font h1 h2 h3 "
        "h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp section small span strike strong sub summary "
        "sup table tbody td tfoot th thead time tr tt u ul var wbr"
    ),
    {
        "*": frozenset({"class", "dir", "hidden", "lang", "style", "title"}),
        "a": frozenset({"href"}),
        "details": frozenset({"open"}),
        "img": frozenset({"alt", "height", "src", "width"}),
        "td": frozenset({"colspan", "rowspan", "scope"}),
        "th": frozenset({"colspan", "rowspan", "scope"}),
    },
    properties=_names(
        "color display font-size height line-height max-width opacity overflow text-align vertical-align "
        "white-space"
    ),
    data_images=True,
)
