"""Words become HTML and SVG at one place, and stay words there."""

import ast
import functools
import re
from pathlib import Path

import pytest
from tracked import tracked

import jupyter_mlgpu
from jupyter_mlgpu.show import markup
from jupyter_mlgpu.show.markup import document, element, image, joined, one_line, plotly_text, unended

ROOT = Path(jupyter_mlgpu.__file__).parent
HOSTILE = """"><img src=x onerror=alert(1)></script><script>alert(2)</script>' & ]]> \x00\ud800"""

# Words that are also the name of an element, where they stand behind a `<`.
TAG = re.compile(
    r"</?(?:a|abbr|article|b|body|br|button|caption|circle|code|defs|details|div|em|footer|form|g|h[1-6]|head"
    r"|header|html|i|iframe|img|input|li|line|link|main|marker|meta|nav|ol|p|path|polygon|polyline|pre|rect"
    r"|script|section|small|span|strong|style|sub|summary|sup|svg|table|tbody|td|text|tfoot|th|thead|time"
    r"|title|tr|tspan|ul|use)(?=[\s/>]|$)|<!doctype|<!--",
    re.IGNORECASE,
)

# Modules that may write a tag, and why.
EXCEPTIONS = {
    "show/markup.py": "the module that writes them",
    "testing/ioregistry.py": "reads what `ioreg` prints, with its angle brackets",
    "testing/sharing.py": "plays a hub that answers with a page",
    "teach/grading/feedback.py": "knows the beginning of nbgrader's pages, and puts a policy behind it",
}


@functools.cache
def sources() -> list[tuple[str, ast.Module]]:
    return [
        (path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
        for path in tracked(ROOT, "**/*.py")
    ]


def documentation(tree: ast.Module) -> set[int]:
    """Which constants are docstrings, or another string that is no value."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def test_one_module_writes_tags() -> None:
    found = [
        f"{name}:{node.lineno} {node.value.strip()[:50]!r}"
        for name, tree in sources()
        if name not in EXCEPTIONS
        for docs in [documentation(tree)]
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
        if TAG.search(node.value)
    ]

    assert not found, "\n".join(found)


def test_one_module_escapes() -> None:
    found = []
    for name, tree in sources():
        for node in ast.walk(tree):
            modules = []
            if isinstance(node, ast.Import):
                modules = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module or ""]
            if any(one == "html" or one.startswith(("xml.sax", "markupsafe")) for one in modules):
                found.append(name)

    assert found == ["show/markup.py"]


def test_text_is_never_mark_up() -> None:
    for made in (
        element("td", HOSTILE, title=HOSTILE),
        joined(HOSTILE, between=HOSTILE),
        one_line(HOSTILE),
    ):
        assert "<img" not in str(made)
        assert "<script" not in str(made)
        assert re.search(r"title=\"[^\"<>]*\">|^[^<>\"]*$", str(made))


def test_what_xml_cannot_hold_is_replaced() -> None:
    assert str(joined("a\x00\x1b\ud800\uffffb\tc\nd")) == "a����b\tc\nd"


def test_elements_are_taken_as_they_are() -> None:
    inner = element("b", "1 < 2")

    assert str(element("p", "see ", inner, None, 3, class_="soft", aria_label='"', id=None)) == (
        '<p class="soft" aria-label="&quot;">see <b>1 &lt; 2</b>3</p>'
    )
    assert str(joined("a", None, inner, between=" | ")) == "a | <b>1 &lt; 2</b>"


def test_ends_that_html_lets_out_are_let_out() -> None:
    row = unended("tr", unended("th", "a"), unended("th", element("b", "<")))

    assert str(element("table", row)) == "<table><tr><th>a<th><b>&lt;</b></table>"
    assert str(joined("a", element("br"), element("path", d="M0 0"))) == 'a<br><path d="M0 0"/>'


def test_only_the_module_makes_markup() -> None:
    with pytest.raises(TypeError, match="alone"):
        markup.Markup()


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", " javascript:alert(1)", "data:text/html,x", "vbscript:x"]
)
def test_an_address_leads_to_a_page_or_a_picture(address: str) -> None:
    assert str(element("a", "x", href=address)) == "<a>x</a>"
    assert str(element("img", src=address)) == "<img>"


def test_addresses_of_pages_are_kept() -> None:
    assert str(element("a", "x", href="/students/a%20b")) == '<a href="/students/a%20b">x</a>'
    assert str(element("a", "x", href="https://example.org/?a=1&b=2")) == (
        '<a href="https://example.org/?a=1&amp;b=2">x</a>'
    )


def test_our_code_cannot_write_what_runs() -> None:
    with pytest.raises(ValueError, match="would run"):
        element("td", "x", onclick="alert(1)")
    with pytest.raises(ValueError, match="no name"):
        element("td onclick=alert(1)", "x")
    for name in ("script", "style", "iframe"):
        with pytest.raises(ValueError, match="holds no text"):
            element(name, "x")
    for made, end in ((markup.style, "</style>"), (markup.script, "</Script>")):
        with pytest.raises(ValueError, match="would end"):
            made(end)


def test_plotly_gets_no_mark_up() -> None:
    assert plotly_text("<b>a</b>", '<a href="javascript:alert(1)">b</a>') == (
        '&lt;b&gt;a&lt;/b&gt;<br>&lt;a href="javascript:alert(1)"&gt;b&lt;/a&gt;'
    )


def test_every_page_says_what_it_may_do() -> None:
    page = document(HOSTILE, "p {}", element("p", HOSTILE), policy="default-src 'none'")

    assert (
        'content="default-src &#x27;none&#x27;; base-uri &#x27;none&#x27;; form-action &#x27;none&#x27;"'
        in page
    )
    assert page.index("Content-Security-Policy") < page.index("<title>")
    assert "<script" not in page


def test_a_drawing_is_an_image_with_words() -> None:
    assert str(image(element("svg"), "a <drawing>")) == (
        '<img src="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=" alt="a &lt;drawing&gt;">'
    )


def test_the_front_end_inserts_no_html() -> None:
    folder = ROOT.parent / "labextension" / "src"
    inserting = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet|document\.write|srcdoc|DOMParser|javascript:"
        r"|createContextualFragment|\beval\(|new Function\(",
        re.IGNORECASE,
    )
    sources = tracked(folder, "**/*.ts*")
    found = [
        f"{path.name}:{number}: {line.strip()}"
        for path in sources
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if inserting.search(line)
    ]

    assert len(sources) > 50
    assert found == []
