"""`%mlc_trace compare` in a real kernel: cells, runs of one cell, files, devices."""

import json

import pytest
from msgspec.structs import replace

from jupyter_mlgpu import save_records
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.testing import example_record

pytestmark = pytest.mark.kernel


def data(result, mime):
    return [found[mime] for kind, found in result.outputs if kind != "stream" and mime in found]


def last_cell(notebook):
    return int(notebook.run("%mlc_trace show").text.strip().splitlines()[-1].split()[0].strip("[]"))


def timed(number, wall):
    record = example_record(number)
    reading = Reading("wall_time", wall, "s", "cell", "simulated", 1, detail="fake clock")
    return replace(record, readings=(reading, *record.readings[1:]))


def test_two_cells_are_compared_over_all_their_runs(plain):
    for _ in range(4):
        assert plain.run("a = sum(range(1000))").status == "ok"
    first = last_cell(plain)
    for _ in range(4):
        assert plain.run("b = sum(range(1000)) + 1").status == "ok"
    result = plain.run(f"%mlc_trace compare {first} {last_cell(plain)}")
    (said,) = data(result, "text/plain")[-1:]
    assert "4 runs" in said
    # The quicker of the two comes first.
    names = ["a = sum(range(1000))", "b = sum(range(1000)) + 1"]
    assert any(" / ".join(pair) in said for pair in (names, names[::-1]))
    assert "one run each" not in said


def test_two_runs_of_one_cell_are_one_run_each_and_judged_approximately(plain):
    first, second = plain.run("twice = 2"), plain.run("twice = 2")
    result = plain.run(f"%mlc_trace compare {first.execution_count} {second.execution_count}")
    said = data(result, "text/plain")[-1]
    assert "one run each, so this is approximate." in said
    assert "≈ approximate" in said
    assert data(result, view.MIME_TYPE)[-1]["charts"] == []


def test_two_files_are_compared_in_a_table_and_a_chart(plain):
    for name, times in {"before": 1.0, "after": 3.0}.items():
        records = [timed(number, times * (1 + number / 100)) for number in range(1, 6)]
        save_records(plain.folder / f"{name} it.jsonl", records)
    result = plain.run('%mlc_trace compare "before it.jsonl" "after it.jsonl"')
    (kept,) = data(result, view.MIME_TYPE)
    (chart,) = kept["charts"]
    assert chart["series"][0]["points"][0][0] == pytest.approx(3, rel=0.05)
    assert chart["x"]["title"]["fields"] == {"second": "after it.jsonl", "first": "before it.jsonl"}
    (shown,) = data(result, "text/html")
    assert '<img src="data:image/svg+xml;base64,' in shown
    assert '<td style="text-align:left">▲ more<' in shown
    assert result.receipts == []


def test_blocks_of_a_script_are_compared_by_their_names(plain):
    plain.run(
        "import jupyter_mlgpu, time\n"
        "for name, seconds in [('short', 0.01), ('long', 0.1)] * 4:\n"
        "    with jupyter_mlgpu.trace(name):\n"
        "        time.sleep(seconds)"
    )
    result = plain.run("jupyter_mlgpu.compare('short', 'long')")
    assert "4 runs" in data(result, "text/plain")[0]
    unknown = plain.run("jupyter_mlgpu.compare('no', 'long')")
    assert "Nothing to compare: no records in A." in str(unknown.error)


def test_the_comparison_can_be_kept_in_a_variable(plain):
    plain.run("kept = 1")
    first = last_cell(plain)
    plain.run("kept = 2")
    second = last_cell(plain)
    found = plain.run(f"c = %mlc_trace compare {first} {second}\nprint(type(c).__name__, len(c.pairs))")
    assert found.text.strip() == "RecordComparison 1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "needs"),
        ("1", "found 1"),
        ("1 2 3", "found 3"),
        ("{last} 9999", "There is no record of cell [9999]"),
        ("no.jsonl other.jsonl", "cannot be read"),
        ("gpu:7 gpu", "no records in gpu:7 and gpu"),
        ("cpuu gpu", "Did you mean cpu?"),
        ("?! 1", "is not a cell, file or device"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_sentence(plain, words, said):
    plain.run("x = 1")
    text = plain.run("%mlc_trace compare " + words.format(last=last_cell(plain))).text
    assert text.startswith("UsageError: ")
    assert said in text.replace("%mlc_trace compare needs two arguments, found 0", "needs")


def named(notebook, number):
    (record,) = [
        event["record"]
        for delta in notebook.deltas()
        for event in delta["events"]
        if event["type"] == "record" and event["record"]["cell"]["execution_count"] == number
    ]
    return {"run": record["run"]["id"], "sequence": record["cell"]["sequence"]}


def asked(notebook, **content):
    return notebook.ask("jupyter_mlgpu_request", {"type": "compare", **content})


def test_a_browser_is_told_the_same_as_the_magic_says(plain):
    for code in ("c = sum(range(2000))", "d = sum(range(2000)) + 1"):
        for _ in range(4):
            assert plain.run(code).status == "ok"
    last = last_cell(plain)
    first = last - 4
    answer = asked(plain, a=named(plain, first), b=named(plain, last))
    assert answer["status"] == "ok"
    plain.run(f"said = %mlc_trace compare {first} {last}")
    told = plain.run(
        "from jupyter_mlgpu.show.comparing import page\nfrom jupyter_mlgpu.show.page import view\n"
        "import json\nmade = page.page(said)\n"
        "print(json.dumps([str(made.headline), view.data(made).parts[0].rows]))"
    )
    table = answer["page"]["parts"][0]
    assert [answer["page"]["headline"], table["rows"]] == json.loads(told.text)
    assert "4 runs" in table["rows"][0][1]


def test_a_browser_that_asks_for_two_runs_of_one_cell_gets_these_two(plain):
    for _ in range(3):
        plain.run("again = 3")
    last = last_cell(plain)
    answer = asked(plain, a=named(plain, last - 2), b=named(plain, last))
    rows = answer["page"]["parts"][0]["rows"]
    assert {verdict for *_, verdict in rows} == {"≈ approximate"}


@pytest.mark.parametrize(
    ("a", "said"),
    [
        (None, "identified by its run and sequence"),
        ([1, 2], "identified by its run and sequence"),
        ({"run": ["x"], "sequence": 1}, "identified by its run and sequence"),
        ({"run": "x", "sequence": "1"}, "identified by its run and sequence"),
        ({"run": "no such run", "sequence": 1}, "no record #1 of that run"),
    ],
)
def test_what_a_browser_asks_wrongly_is_refused_in_one_sentence(plain, a, said):
    answer = asked(plain, a=a, b=a)
    assert answer["status"] == "error"
    assert said in answer["evalue"]
