"""Pages, tables and charts as data, and what each renderer makes of them."""

import itertools
from html.parser import HTMLParser

import pytest

from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.show.page import html, plotly, svg, text, view
from jupyter_mlgpu.show.page.chart import COLOURS, Axis, Chart, Point, Rule, Series
from jupyter_mlgpu.show.page.model import Page, Table, with_head
from jupyter_mlgpu.show.page.rendering import bundle_of, page_of

TABLE = Table(
    ("name", "count"), (("a", "7"), ("bcd", "1,000")), figures=("count",), caption="All", below="and 3 more"
)


def test_in_a_text_words_begin_and_figures_end_under_each_other():
    assert text.table(TABLE) == [
        "All:",
        "name  count",
        "a         7",
        "bcd   1,000",
        "and 3 more",
    ]


def test_a_table_without_rows_is_nothing():
    assert text.table(Table(("a",), ())) == []
    assert not html.table(Table(("a",), ()))
    assert with_head([]) == Table((), ())


def test_what_deceives_a_terminal_is_written_out_in_texts_and_in_html():
    deceiving = Table(("a",), (("\x1b[31mred\u202e",),))
    assert text.table(deceiving)[1] == "\\u001b[31mred\\u202e"
    assert "\\u001b[31mred\\u202e" in str(html.table(deceiving))


def test_in_html_a_table_has_its_caption_heads_with_a_scope_and_what_was_cut():
    made = str(html.table(TABLE))
    assert made.startswith('<table><caption>All</caption><tr><th scope="col">name<th scope="col">count<tr>')
    assert '<th scope="row" style="text-align:left">bcd<td style="text-align:right">1,000' in made
    assert made.endswith("</table><div>and 3 more</div>")


def test_in_html_a_number_and_its_unit_stay_on_one_line_and_words_may_wrap():
    rates = Table(("case", "rate"), (("a matrix", "615 1/µs"),), figures=("rate",))
    assert "a matrix" in str(html.table(rates))
    assert "615\u00a01/\u2060µs" in str(html.table(rates))
    assert "615 1/µs" in text.table(rates)[-1]


def test_a_number_with_its_unit_is_no_two_lines_in_a_column_of_words_and_a_list_of_numbers_may_be():
    shown = str(html.table(with_head([("what", "value"), ("wall time", "3 ms"), ("cores", "0, 1")])))
    assert "3\u00a0ms" in shown
    assert "0, 1" in shown


def test_in_html_what_stands_between_backticks_is_drawn_as_code():
    made = html.page(Page(parts=("Run `%mlc_device <list>` first.",), notes=("One ` alone stays.",)))
    assert "<p>Run <code>%mlc_device &lt;list&gt;</code> first.</p>" in str(made)
    assert "One ` alone stays." in str(made)


def test_a_page_shows_so_many_rows_and_says_how_many_more_there_are_and_a_text_has_all():
    long = Table(("n",), tuple((str(number),) for number in range(9)), most=5)
    assert str(html.table(long)).count('<th scope="row"') == 5
    assert "4 more: print the result to see them all." in str(html.table(long))
    assert len(text.table(long)) == 10


def test_a_table_with_a_summary_is_folded_under_it():
    assert str(html.table(Table((), (("a",),), summary="Figures"))) == (
        "<details><summary>Figures</summary><table><tr><td>a</table></details>"
    )


def test_a_page_has_its_parts_in_order_and_its_notes_last():
    page = Page(("head", "part <b>", TABLE), ("a note",))
    assert text.page(page).splitlines() == ["head", "part <b>", *text.table(TABLE), "a note"]
    made = str(html.page(page))
    assert made.startswith("<p>head</p><p>part &lt;b&gt;</p><table>")
    assert made.endswith("<small><ul><li>a note</li></ul></small>")


class Unknown(Displayable):
    """A result of which no module makes a page."""


def test_a_result_without_a_page_is_an_error_of_the_programmers():
    with pytest.raises((TypeError, ModuleNotFoundError)):
        page_of(Unknown())
    with pytest.raises((TypeError, ModuleNotFoundError)):
        bundle_of(Unknown())


def bars(**changes) -> Chart:
    series = (
        Series("a", (Point(1.0, 0), Point(2.0, 1)), 0, "bar"),
        Series("b", (Point(3.0, 0),), 1, "bar"),
    )
    return Chart((), Axis("seconds", zero=True), Axis("", names=("x", "y")), series, "Bars.", **changes)


class Rectangles(HTMLParser):
    """The bars of a drawing: left edge, upper edge, width and height."""

    def __init__(self, drawing: str) -> None:
        super().__init__()
        self.found: list[tuple[float, ...]] = []
        self.feed(drawing)

    def handle_startendtag(self, tag, attributes):
        known = dict(attributes)
        if tag == "rect" and "fill" in known:
            self.found.append(tuple(float(known[one]) for one in ("x", "y", "width", "height")))


def test_bars_at_one_place_stand_on_each_other_or_side_by_side():
    a, _, b = Rectangles(str(svg.draw(bars()))).found
    assert b[0] == pytest.approx(a[0] + a[2], abs=0.1)
    assert (a[1], a[3]) == (b[1], b[3])
    a, _, b = Rectangles(str(svg.draw(bars(stacked=False)))).found
    assert a[0] == b[0]
    assert b[1] == pytest.approx(a[1] + a[3], abs=0.1)
    assert plotly.figure(bars())["layout"]["barmode"] == "stack"
    assert plotly.figure(bars(stacked=False))["layout"]["barmode"] == "group"


def test_a_span_goes_from_its_low_to_its_high_end_in_each_drawing():
    spans = Series("a", (Point(1.0, 0, "early", 1.0, 2.0), Point(3.0, 1, "late", 3.0, 5.0)), 0, "span")
    chart = Chart((), Axis("seconds", zero=True), Axis("", names=("x", "y")), (spans,), "Spans.", rows=3)
    early, late = Rectangles(str(svg.draw(chart))).found
    assert late[2] == pytest.approx(2 * early[2], abs=0.2)
    assert late[0] == pytest.approx(early[0] + 2 * early[2], abs=0.2)
    (trace,) = plotly.figure(chart)["data"]
    assert (trace["base"], trace["x"], trace["y"]) == ([1.0, 3.0], [1.0, 2.0], [0, 1])
    assert trace["width"] == view.chart(chart).bars[0][2] == 0.25
    assert [one[3:] for one in view.chart(chart).bars] == [(1.0, 2.0), (3.0, 5.0)]


def test_what_is_replayed_is_dashed_and_a_rule_stands_at_its_value():
    line = Series("a", (Point(1, 2), Point(10, 3)), 0, dashed=True)
    chart = Chart(("t",), Axis("n", log=True), Axis("s"), (line,), "A line.", (Rule(5.0, "here"),))
    made = str(svg.draw(chart))
    assert made.count('stroke-dasharray="7 4"') == 2  # the line, and its name in the legend
    assert ">here</text>" in made
    trace, rule = plotly.figure(chart)["data"]
    assert (trace["line"]["dash"], rule["x"]) == ("dash", [5.0, 5.0])


# What the three kinds of cones lacking leave of linear red, green and blue: G. M. Machado, M. M. Oliveira,
# L. A. F. Fernandes, IEEE Transactions on Visualization and Computer Graphics 15(6), 2009, severity 1.
SEEN = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear(colour: str) -> list[float]:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]


def lab(rgb: list[float]) -> tuple[float, float, float]:
    """CIELAB of a colour, with the white of D65."""
    red, green, blue = (min(1.0, max(0.0, one)) for one in rgb)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    f, g, h = (one ** (1 / 3) if one > 0.008856 else 7.787 * one + 16 / 116 for one in (x, y, z))
    return 116 * g - 16, 500 * (f - g), 200 * (g - h)


@pytest.mark.parametrize("eyes", SEEN)
def test_the_eight_colours_are_told_apart_whichever_cones_are_lacking(eyes):
    seen = [
        lab([sum(a * b for a, b in zip(row, linear(one), strict=True)) for row in SEEN[eyes]])
        for one in COLOURS
    ]
    assert len(seen) == 8
    nearest = min(
        sum((p - q) ** 2 for p, q in zip(*pair, strict=True)) ** 0.5
        for pair in itertools.combinations(seen, 2)
    )
    assert nearest > 12  # of which one is the least difference that is seen at all
