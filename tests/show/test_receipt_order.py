"""The sending thread publishes a receipt, so that nobody waits: it still stands in its place."""

from itertools import groupby

import pytest

pytestmark = pytest.mark.kernel


def test_a_receipt_comes_after_what_was_printed_and_before_the_cell_has_ended(plain):
    plain.run("import sys")
    for number in range(100):
        result = plain.run(f"print('out {number}'); print('error {number}', file=sys.stderr)")
        *printed, last = [kind for kind, _ in result.outputs]  # one print may come in two parts
        assert last == "display_data", number
        assert set(printed) == {"stream"}, number
        assert f"out {number}" in result.text
        assert f"error {number}" in result.text
        assert result.receipt["cell"]["execution_count"] == result.execution_count


def test_a_receipt_belongs_to_its_own_cell_when_the_next_one_is_waiting_already(plain):
    sent = [plain.client.execute(f"print({number})") for number in range(20)]
    for number, message in enumerate(sent):
        result = plain.wait(message)
        assert result.text == f"{number}\n"
        assert result.receipt["cell"]["name"] == f"print({number})"


def test_who_wants_to_see_what_is_published_sees_the_receipt_too(plain):
    plain.run(
        "seen = []\n"
        "def see(message):\n"
        "    seen.append(message['msg_type'])\n"
        "    return message\n"
        "get_ipython().display_pub.register_hook(see)"
    )
    assert plain.run("x = 1").receipt["cell"]["name"] == "x = 1"
    plain.run("get_ipython().display_pub.unregister_hook(see)")
    assert "display_data" in plain.run("print(seen)").text


def test_a_receipt_is_shown_where_the_user_has_put_something_else_in_the_place_of_stdout(plain):
    plain.run("import io, sys\nbefore, sys.stdout = sys.stdout, io.StringIO()")
    assert plain.run("x = 1").receipt["cell"]["name"] == "x = 1"
    plain.run("sys.stdout = before")
    assert plain.run("print('back')").text == "back\n"


def test_what_a_repeated_cell_prints_stands_above_its_receipt(plain):
    for _ in range(10):
        result = plain.run("%%mlc_trace --ops --repeat 3\nprint('run')")
        # What is printed may come in several messages, which a notebook joins.
        kinds = [kind for kind, _ in groupby(kind for kind, _ in result.outputs)]
        assert kinds == ["stream", "display_data"]
        assert result.text == "run\n"
