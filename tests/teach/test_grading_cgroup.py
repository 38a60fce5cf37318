"""Memory held to its limit by the kernel, through a fake `systemd-run` that becomes the command it gets."""

import os
import subprocess

import pytest

from jupyter_mlgpu.teach.grading import cgroup
from jupyter_mlgpu.teach.grading.limits import Limits
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES
from jupyter_mlgpu.teach.grading.student import Student

pytestmark = pytest.mark.kernel

LIMITS = Limits(memory=2 * 1024**3, processes=Limits.of_this_machine().processes)

#: Notes who asked for what, shows a group's files as the kernel would, and becomes the command, all in one
#: process.
FAKE = """#!/bin/sh
echo $$ > {root}/asker
printf '%s\\n' "$@" > {root}/asked
while [ "$1" != -- ]; do
    case "$1" in MemoryMax=*) limit=${{1#MemoryMax=}};; esac
    shift
done
shift
mkdir -p {root}/proc/$$ {root}/sys/fs/cgroup/scope
echo 0::/scope > {root}/proc/$$/cgroup
echo {limit} > {root}/sys/fs/cgroup/scope/memory.max
exec "$@"
"""


@pytest.fixture
def systemd(tmp_path, monkeypatch):
    """Puts a program in the place of systemd-run; where the kernel's files are read then, is returned."""

    def put(program, limit="$limit"):
        path = tmp_path / "systemd-run"
        path.write_text(program.format(root=tmp_path, limit=limit))
        path.chmod(0o755)
        return tmp_path

    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(cgroup, "ROOT", tmp_path)
    cgroup.is_available.cache_clear()
    yield put
    cgroup.is_available.cache_clear()


def test_a_command_in_a_group_keeps_its_process_id_and_its_input(systemd):
    root = systemd(FAKE)
    with subprocess.Popen(
        cgroup.in_group(["cat"], LIMITS), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.communicate(b"a question")[0] == b"a question"
    assert int((root / "asker").read_text()) == process.pid


@pytest.mark.parametrize(("user", "manager"), [(0, []), (1000, ["--user"])], ids=["root", "another user"])
def test_the_systemd_of_the_user_is_asked_for_all_limits(systemd, monkeypatch, user, manager):
    root = systemd(FAKE)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    subprocess.run(cgroup.in_group(["true"], Limits(memory=5_000_000_000, processes=100)), check=True)
    limits = ["-p", "MemoryMax=5000000000", "-p", "MemorySwapMax=0", "-p", "TasksMax=100"]
    asked = [*manager, "--scope", "--quiet", "--collect", *limits, "--", "true"]
    assert (root / "asked").read_text().splitlines() == asked


@pytest.mark.parametrize(
    "program",
    ["#!/bin/sh\necho no bus >&2\nexit 1", "#!/bin/sh\nexec sleep 600", "no program"],
    ids=["it refuses", "it hangs", "it is no program"],
)
def test_where_systemd_does_not_answer_a_command_runs_as_it_is(systemd, monkeypatch, program):
    systemd(program)
    monkeypatch.setattr(cgroup, "LONGEST", 0.5)
    assert cgroup.in_group(["cat"], LIMITS) == ["cat"]


def test_where_there_is_no_systemd_a_command_runs_as_it_is(systemd, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cgroup.in_group(["cat"], LIMITS) == ["cat"]


def said_of_a_submission_that_was_killed(root, kernel_counts_it):
    """What is said of a cell whose process is killed, by the kernel for want of memory or by itself."""
    counter = root / "proc" / "vmstat"
    counter.parent.mkdir(exist_ok=True)
    counter.write_text("oom_kill 3\n")
    kill = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    with Student(SANDBOXES["same-user"], seconds=60, limits=LIMITS) as one:
        assert one.run("1 + 1")[0]["data"] == {"text/plain": "2"}
        if kernel_counts_it:
            kill = f"open({str(counter)!r}, 'w').write('oom_kill 4\\n')\n{kill}"
        return one.run(kill)[0]["evalue"]


def test_a_submission_that_the_kernel_ended_for_its_memory_is_told_so(systemd):
    said = said_of_a_submission_that_was_killed(systemd(FAKE), kernel_counts_it=True)
    assert said == "It took more than 2.1 GB of memory, and was ended."


def test_a_submission_that_ended_itself_by_the_same_signal_is_not(systemd):
    said = said_of_a_submission_that_was_killed(systemd(FAKE), kernel_counts_it=False)
    assert said == "Its process ended by itself."


def test_where_systemd_has_no_say_over_memory_it_is_not_said_that_a_submission_took_too_much(systemd):
    said = said_of_a_submission_that_was_killed(systemd(FAKE, limit="max"), kernel_counts_it=True)
    assert said == "Its process ended by itself."
