"""The pages: a teacher sees the class, a student only themselves, and nothing that was sent is mark-up."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec.structs import replace

pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: run `make test-teacher`")

from jupyter_mlgpu.teach.packaged import LESSONS
from jupyter_mlgpu.teach.sharing.report import EXERCISES, SCHEMA, Report, SharedCheck, to_bytes
from jupyter_mlgpu.teach.teacher import frame
from jupyter_mlgpu.testing.hub import PREFIX, RunningService, StandInHub
from tests.teach.teacher.conftest import Browser, Kernel

TEACHERS = ("teachers",)
#: The one script that a page may run.
SCRIPT = (Path(frame.__file__).with_name("live.js")).read_text(encoding="utf-8")
OPENED = ("area", "br", "hr", "img", "input", "link", "meta")

Browsers = Callable[[str], Browser]


class Page(HTMLParser):
    """The tags of a page and their attributes; whatever is opened has to be closed in its order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in OPENED:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def text_of(page: str) -> str:
    """What a page says, without its tags."""
    return re.sub(
        r"\s+", " ", re.sub(r"<style>.*?</style>|<script>.*?</script>|<[^>]*>", " ", page, flags=re.DOTALL)
    )


def scripts_of(page: str) -> set[str]:
    """All scripts in a page; none is loaded from elsewhere."""
    assert all(attributes == {} for attributes in Page(page).all("script"))
    return set(re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL))


@pytest.fixture
def ada_sent(hub: StandInHub, service: RunningService) -> str:
    """A student's page; she sent two cells and two checks of a lesson, by a clock that is 2 hours ahead."""
    # And half a minute: it takes the service a moment to ask the hub who she is.
    kernel = Kernel()
    checks = (SharedCheck("convolve", True, 2), SharedCheck("weights", False, 5))
    status, _ = service.post(hub.person("ada"), kernel.report(1, 2, checks=checks, ahead=7_230.0))
    assert status == 200
    return "students/ada"


def test_a_teacher_sees_progress_and_last_receipt_of_each_student(
    hub: StandInHub, browser: Browsers, ada_sent: str
) -> None:
    hub.person("tess", TEACHERS)
    status, page = browser("tess").get()
    row = next(row for row in page.split("<tr>") if ">ada<" in row)
    assert status == 200
    progress = f"07_a_cnn 1 of {len(LESSONS['07_a_cnn'])} 1 of {len(EXERCISES)}"
    assert f"{progress} [6]: ok 250 ms 3 GiB TensorFlow 2.19.1, cpu" in text_of(row)
    assert "ahead by 2 h 00 min" in text_of(row)
    assert Page(page).all("table")


def test_a_teacher_follows_the_link_to_a_student(hub: StandInHub, browser: Browsers, ada_sent: str) -> None:
    hub.person("tess", TEACHERS)
    tess = browser("tess")
    links = [one["href"] for one in Page(tess.get()[1]).all("a")]
    assert f"{PREFIX}{ada_sent}" in links
    status, page = tess.get(ada_sent)
    said = text_of(page)
    assert status == 200
    assert "convolve: passed (tries: 2)" in said
    assert "weights: not yet passed (tries: 5)" in said
    assert "Student&#x27;s clock: ahead by 2 h 00 min" in said
    assert "Wall time: 250 ms (of the cell; source: clock; samples: 1)" in said


def test_a_student_sees_their_own_page_and_no_other(
    hub: StandInHub, service: RunningService, browser: Browsers, ada_sent: str
) -> None:
    ada = browser("ada")
    for path in ("", ada_sent):
        status, page = ada.get(path)
        assert (status, "<h1>ada</h1>" in page) == (200, True)
    service.post(hub.person("bea"), Kernel().report(1))
    for path in (
        "students/bea",
        "students/nobody",
        "students/tess",
        "students/BEA",
        "students/ada%2F..%2Fbea",
    ):
        status, page = ada.get(path)
        assert (status, text_of(page).strip()[:28]) == (403, "You may see only your own pa"), path
        assert "07_a_cnn" not in page


def test_one_who_sent_nothing_is_told_so(hub: StandInHub, browser: Browsers) -> None:
    hub.person("silent")
    status, page = browser("silent").get()
    assert (status, "Nothing of yours is kept here." in page) == (200, True)


def test_a_teacher_is_told_of_a_student_of_whom_nothing_is_kept(hub: StandInHub, browser: Browsers) -> None:
    hub.person("tess", TEACHERS)
    assert browser("tess").get("students/nobody")[0] == 404


@pytest.mark.parametrize("groups", [("teacher",), ("Teachers",), ("students", "teachers2")])
def test_another_group_makes_no_teacher(
    hub: StandInHub, browser: Browsers, ada_sent: str, groups: tuple[str, ...]
) -> None:
    hub.person("groupie", groups)
    groupie = browser("groupie")
    assert groupie.get(ada_sent)[0] == 403
    assert "ada" not in groupie.get()[1]


def test_an_address_with_another_s_name_shows_nothing_of_theirs(
    hub: StandInHub, browser: Browsers, ada_sent: str
) -> None:
    hub.person("eve")
    eve = browser("eve")
    for query in ("?student=ada", "?user=ada&name=ada", "?teacher=1"):
        status, page = eve.get(query)
        assert (status, "<h1>eve</h1>" in page, "07_a_cnn" in page) == (200, True, False)


@pytest.mark.parametrize("name", ["X-Forwarded-User", "Remote-User", "X-JupyterHub-User", "From"])
def test_a_header_with_another_s_name_shows_nothing_of_theirs(
    hub: StandInHub, browser: Browsers, ada_sent: str, name: str
) -> None:
    hub.person("eve")
    eve = browser("eve")
    headers = {name.replace("-", "_"): "ada"}
    assert "07_a_cnn" not in eve.get(**headers)[1]
    assert eve.get(ada_sent, **headers)[0] == 403


def test_a_cookie_that_the_service_did_not_sign_opens_nothing(
    hub: StandInHub, service: RunningService, ada_sent: str
) -> None:
    for value in (hub.person("ada"), "ada", "2|1:0|10:1700000000|21:service-mlgpu-teacher|4:YWRh|00"):
        cookie = {"Cookie": f"service-mlgpu-teacher={value}"}
        status, headers, page = service.ask("GET", f"{PREFIX}{ada_sent}", headers=cookie)
        assert status == 302  # to the hub, as anybody who is not signed in
        assert headers["Location"].startswith(f"{hub.url}/hub/api/oauth2/authorize")
        assert page == ""


def test_a_cookie_from_before_a_restart_is_asked_for_again(
    hub: StandInHub, service: RunningService, browser: Browsers, ada_sent: str
) -> None:
    ada = browser("ada")
    ada.get()
    cookie = "; ".join(f"{one.name}={one.value}" for one in ada.cookies)
    assert service.ask("GET", f"{PREFIX}{ada_sent}", headers={"Cookie": cookie})[0] == 200
    service.stop()
    service.start()
    assert service.ask("GET", f"{PREFIX}{ada_sent}", headers={"Cookie": cookie})[0] == 302
    assert ada.get(ada_sent)[0] == 200  # the hub still knows her, and nothing was lost


@pytest.mark.parametrize("how", ["header", "address"])
def test_a_token_opens_no_page_not_even_a_teacher_s(
    hub: StandInHub, service: RunningService, ada_sent: str, how: str
) -> None:
    for token in (hub.person("tess", TEACHERS), hub.person("ada"), hub.service("grader"), "made-up"):
        for path in ("", ada_sent):
            headers = {"Authorization": f"token {token}"} if how == "header" else {}
            address = f"{PREFIX}{path}" + ("" if how == "header" else f"?token={token}")
            status, _, page = service.ask("GET", address, headers=headers)
            assert (status, "07_a_cnn" in page) == (403, False)
            assert "Open the pages in a browser" in page


def test_somebody_whom_the_hub_does_not_let_in_sees_nothing(
    hub: StandInHub, browser: Browsers, ada_sent: str
) -> None:
    hub.person("outsider", TEACHERS, access=False)
    for path in ("", ada_sent):
        status, page = browser("outsider").get(path)
        assert (status, "07_a_cnn" in page) == (403, False)


def test_a_script_in_a_name_is_text(hub: StandInHub, service: RunningService, browser: Browsers) -> None:
    name = "<script>alert(1)</script>\"onclick='x'&amp;"
    service.post(hub.person(name), Kernel().report(1))
    hub.person("tess", TEACHERS)
    tess = browser("tess")
    for path in ("", f"students/{quote(name, safe='')}", f"students/{quote('<b>' + name, safe='')}"):
        text = tess.get(path)[1]
        page = Page(text)
        assert scripts_of(text) <= {SCRIPT}
        assert {name for _, attributes in page.tags for name in attributes if name.startswith("on")} == set()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&quot;onclick=&#x27;x&#x27;&amp;amp;" in tess.get()[1]


def test_every_page_forbids_frames_and_all_scripts_but_its_own_and_is_not_kept_by_browsers(
    hub: StandInHub, browser: Browsers, ada_sent: str
) -> None:
    ada = browser("ada")
    for path in ("", "students/bea"):
        _, headers, page = ada.whole(path)
        assert headers["Content-Security-Policy"] == frame.POLICY
        assert "default-src 'none'" in frame.POLICY
        assert "unsafe" not in frame.POLICY
        digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
        assert f"script-src 'sha256-{digest}'; connect-src 'self';" in frame.POLICY
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert scripts_of(page) <= {SCRIPT}


def test_a_page_can_be_read_by_ear_and_scrolled_with_the_keyboard(
    hub: StandInHub, browser: Browsers, ada_sent: str
) -> None:
    page = Page(browser("ada").get()[1])
    assert [one["lang"] for one in page.all("html")] == ["en"]
    assert len(page.all("h1")) == len(page.all("main")) == 1
    assert len(page.all("table")) == len(page.all("caption")) == 2
    assert {one["scope"] for one in page.all("th")} == {"col", "row"}
    regions = [one for one in page.all("div") if one.get("role") == "region"]
    assert all(one["tabindex"] == "0" and one["aria-label"] for one in regions)
    assert "color-scheme: light dark" in browser("ada").get()[1]


@pytest.mark.parametrize("accept", ["zh-CN,zh;q=0.9,en;q=0.8", "fr, zh-TW;q=0.5, en;q=0.2"])
def test_pages_and_refusals_are_in_chinese_for_those_who_read_it(
    hub: StandInHub, browser: Browsers, ada_sent: str, accept: str
) -> None:
    ada = browser("ada")
    _, page = ada.get(Accept_Language=accept)
    assert '<html lang="zh-Hans">' in page
    assert "快 2 h 00 min" in page
    assert not re.findall(r"Wall time|Lesson|passed", text_of(page))
    assert "你只能查看自己的页面" in ada.get("students/bea", Accept_Language=accept)[1]


def test_other_languages_are_answered_in_english(browser: Browsers, ada_sent: str) -> None:
    for accept in ("", "fr", "en-GB,zh;q=0.3", "zh;q=nonsense", ";;,,q="):
        assert '<html lang="en">' in browser("ada").get(Accept_Language=accept)[1]


def test_a_value_that_was_not_measured_is_said_to_be_so(
    hub: StandInHub, service: RunningService, browser: Browsers
) -> None:
    record = Kernel().record(1, None, "interrupted")
    body = to_bytes(Report(SCHEMA, None, 0.0, (record,), ()))
    service.post(hub.person("noemi"), body)
    said = text_of(browser("noemi").get()[1])
    assert "Wall time: not measured" in said
    assert "Not measured: the student&#x27;s own receipt says why." in said
    assert "interrupted" in said


def test_a_record_outside_of_a_numbered_cell_is_named_by_its_own_number(
    hub: StandInHub, service: RunningService, browser: Browsers
) -> None:
    block = replace(Kernel().record(2), execution_count=None)
    service.post(hub.person("blocks"), to_bytes(Report(SCHEMA, None, 0.0, (block,), ())))
    hub.person("tess", TEACHERS)
    row = next(row for row in browser("tess").get()[1].split("<tr") if ">blocks<" in row)
    assert "#2: ok" in text_of(row)


def test_an_unknown_address_is_said_to_be_none(service: RunningService) -> None:
    assert service.ask("GET", "/elsewhere")[0] == 404
    assert service.ask("GET", f"{PREFIX}elsewhere")[2] == "There is no such page."
