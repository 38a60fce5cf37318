"""`%mlc_share` in a real kernel, with a stand-in for the teacher's view on this machine."""

import json
import sys
import time

import pytest

from jupyter_mlgpu.teach.sharing.report import SharedCheck
from jupyter_mlgpu.testing.sharing import FakeTeacher

pytestmark = pytest.mark.kernel

#: As fast as a test wants it, instead of 10 s between posts and up to 300 s after failures.
QUICK = (
    "from jupyter_mlgpu.teach.sharing import post, sender\n"
    "sender.EVERY, sender.LONGEST, post.LIMIT = 0.02, 0.1, {limit}"
)
#: A report whose answer takes longer is sent again, so it is long where nothing is to be sent twice.
PATIENT, IMPATIENT = QUICK.format(limit=20.0), QUICK.format(limit=1.0)


@pytest.fixture
def teacher():
    one = FakeTeacher()
    yield one
    one.cut()


@pytest.fixture
def start(start_kernel, teacher):
    """Starts the kernel of a student whose hub has a teacher's view."""

    def kernel(**options):
        return start_kernel(
            JUPYTER_MLGPU_TEACHER_URL=teacher.url,
            JUPYTERHUB_API_TOKEN="a-token",
            JPY_SESSION_NAME="homework of anna/07_a_cnn.ipynb",
            **options,
        )

    return kernel


def number_of(result) -> int:
    return result.receipt["cell"]["sequence"]


def arrive(teacher, *cells) -> None:
    """Wait until the records of these cells are stored."""
    wanted = {number_of(cell) for cell in cells}
    teacher.wait(lambda: wanted <= set(teacher.numbers()))


def status_with(notebook, words: str) -> str:
    """What `%mlc_share status` says, once these words are in it."""
    deadline = time.monotonic() + 60
    while words not in (said := notebook.run("%mlc_share status").text):
        assert time.monotonic() < deadline, said
    return said


def test_what_is_shared_from_the_consent_to_the_end(start, teacher):
    notebook = start()
    notebook.run(PATIENT)
    notebook.run("before = 'S3CRET'")
    assert "run one" not in notebook.run("%mlc_share show").text
    assert teacher.bodies == []
    assert teacher.url in notebook.run("%mlc_share on").text
    first = notebook.run(
        "# S3CRET\nimport os\nfrom jupyter_mlgpu.lessons import check\nos.write(2, b'S3CRET line\\n')\n"
        "check('weights', lambda side, channels, kernel, filters: 'S3CRET')\nprint('S3CRET', os.getcwd())"
    )
    arrive(teacher, first)
    teacher.wait(
        lambda: SharedCheck("weights", False, 1) in [c for one in teacher.reports for c in one.checks]
    )
    assert {one.lesson for one in teacher.reports} == {"07_a_cnn"}

    # The network is cut: every cell runs as ever, with no word in its output, and nothing is lost.
    teacher.cut()
    cut_off = [notebook.run(f"print({number})") for number in range(3)]
    assert [cell.text for cell in cut_off] == ["0\n", "1\n", "2\n"]
    assert "The last attempt failed: it cannot be reached" in status_with(notebook, "The last attempt failed")
    teacher.resume()
    arrive(teacher, *cut_off)

    # Answers of a hostile service: cells go on, what was not acknowledged comes again.
    for behave in ("gigabyte", "html", "drip", 503):
        notebook.run(IMPATIENT if behave == "drip" else PATIENT)
        teacher.behave = behave
        cell = notebook.run("print('mine')")
        assert cell.text == "mine\n"
        status_with(notebook, "The last attempt failed")
        notebook.run(PATIENT)
        teacher.behave = "take"
        arrive(teacher, cell)
    assert teacher.poured < 10**8

    # What is too large is final, and said where one asks.
    teacher.behave = 413
    refused = notebook.run("print('mine')")
    assert refused.text == "mine\n"
    assert "it refused a report as too large (413)" in status_with(notebook, "will not be sent again")
    teacher.behave = "take"
    arrive(teacher, notebook.run("1"))

    assert number_of(refused) not in teacher.numbers()
    assert min(teacher.numbers()) == number_of(first)
    assert len(teacher.numbers()) == len(set(teacher.numbers()))
    for secret in (b"S3CRET", b"anna", b"mine", b"print", str(notebook.folder).encode(), b"a-token"):
        assert not any(secret in body for body in teacher.bodies)

    assert "Sharing is off" in notebook.run("%mlc_share off").text
    came = len(teacher.bodies)
    notebook.run("2")
    assert len(teacher.bodies) == came


def test_the_consent_is_given_in_a_cell_and_ends_with_the_extension_and_with_the_kernel(
    start, teacher, tmp_path
):
    # What runs at the start of every kernel of somebody's cannot consent for all their notebooks.
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text(
        "get_ipython().run_line_magic('load_ext', 'jupyter_mlgpu')\nget_ipython().run_cell('%mlc_share on')\n"
    )
    notebook = start(extension=False, IPYTHONDIR=str(tmp_path / "ipython"))
    assert notebook.run("1").receipts != []
    assert "Sharing is off" in notebook.run("%mlc_share").text
    assert teacher.bodies == []

    notebook.run(PATIENT)
    notebook.run("%mlc_share on")
    notebook.run("%unload_ext jupyter_mlgpu")
    assert "`%mlc_share` not found" in notebook.run("%mlc_share").text
    names = notebook.run("import threading\nprint([one.name for one in threading.enumerate()])").text
    assert "jupyter_mlgpu-sharing" not in names
    notebook.run("%load_ext jupyter_mlgpu")
    assert "Sharing is off" in notebook.run("%mlc_share").text
    notebook.run("%mlc_share on")
    arrive(teacher, notebook.run("1"))
    came = len(teacher.bodies)

    notebook.manager.restart_kernel(now=True)
    notebook.client.wait_for_ready(timeout=60)
    assert notebook.run("1").receipts != []
    assert "Sharing is off" in notebook.run("%mlc_share").text
    assert len(teacher.bodies) == came


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_neither_a_fork_nor_the_end_of_the_kernel_waits_for_the_network(start, teacher):
    notebook = start()
    notebook.run(QUICK.format(limit=600.0))
    notebook.run("%mlc_share on")
    teacher.behave = "drip"
    notebook.run("1")
    teacher.wait(lambda: len(teacher.bodies) == 1)  # from here on the sender waits for the rest of an answer
    forked = notebook.run(
        "import os, jupyter_mlgpu\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    with jupyter_mlgpu.trace('in the child'):\n"
        "        pass\n"
        "    os._exit(0)\n"
        "print(os.waitpid(child, 0)[1])"
    )
    assert "0" in forked.text.splitlines()  # Python warns of a fork, before or after it
    notebook.client.shutdown()
    deadline = time.monotonic() + 60
    while notebook.manager.is_alive():
        assert time.monotonic() < deadline, "the kernel has not ended"
        time.sleep(0.01)


def test_a_server_without_a_teachers_view_says_so_in_a_sentence(plain):
    for line in ("%mlc_share on", "%mlc_share"):
        result = plain.run(line)
        assert result.status == "error"
        assert len(result.text.strip().splitlines()) == 1
        assert "This server has no teacher's view" in result.text
    plain.run("1")
    shown = json.loads(plain.run("%mlc_share show").text)
    assert len(shown["records"]) == 1
