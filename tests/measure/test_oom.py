"""What Linux counts and logs of processes that it killed for want of memory."""

import os
import time

import pytest

from jupyter_mlgpu.measure.probes import memory, oom, systemlog
from jupyter_mlgpu.record.flight.flight_record import OomKills

VMSTAT = "nr_free_pages 5\noom_kill 4\nzswpin 0\n"


def root(tmp_path, **files):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_both_versions_of_control_groups_are_counted(tmp_path):
    second = root(
        tmp_path / "2",
        **{
            "proc/self/cgroup": "0::/user/class\n",
            "sys/fs/cgroup/user/class/memory.events": "low 0\nmax 9\noom 2\noom_kill 2\noom_group_kill 0\n",
            "proc/vmstat": VMSTAT,
        },
    )
    assert oom.counters(root=second).read() == OomKills(2, 4)
    first = root(
        tmp_path / "1",
        **{
            "proc/7/cgroup": "9:name=systemd:/\n4:memory:/docker/of-the-host\n0::/\n",
            "sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
            "proc/vmstat": VMSTAT,
        },
    )
    assert oom.counters(7, first).read() == OomKills(1, 4)


def test_the_innermost_group_that_can_be_seen_is_the_one_that_counts(tmp_path):
    here = root(
        tmp_path,
        **{
            "proc/self/cgroup": "0::/user/class\n",
            "sys/fs/cgroup/user/memory.events": "oom_kill 8\n",
            "sys/fs/cgroup/memory.events": "oom_kill 9\n",
        },
    )
    assert oom.counters(root=here).read() == OomKills(8, None)


def test_what_is_not_counted_is_not_known(tmp_path):
    assert oom.counters(root=tmp_path).read() == OomKills(None, None)
    root(
        tmp_path,
        **{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.events": "oom 1\n", "proc/vmstat": "x"},
    )
    assert oom.counters(root=tmp_path).read() == OomKills(None, None)


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A log with one record, of some seconds ago."""
    monkeypatch.setattr(memory, "sees_the_machines_processes", lambda: True)
    monkeypatch.setattr("sys.platform", "linux")

    def write(text, ago=1.0):
        path = tmp_path / "kmsg"
        path.write_text(f"6,3112,{int((time.monotonic() - ago) * 1e6)},-;{text}\n")
        return path

    return write


KILLED = "Memory cgroup out of memory: Killed process 4711 (python3) total-vm:212056kB, anon-rss:194816kB"
CRASHED = "python3[4711]: segfault at 0 ip 00007f sp 00007f error 4 in libc.so.6[7f+1]"


@pytest.mark.parametrize(
    ("text", "status", "named"),
    [
        (KILLED, -9, "container"),
        (KILLED, None, "container"),
        ("O" + KILLED.removeprefix("Memory cgroup o"), -9, "machine"),
        (KILLED, -11, None),
        (CRASHED, -11, "crash"),
        (CRASHED, -9, None),
        ("traps: python3[4711] trap divide error ip:7f sp:7f error:0 in libc.so.6", -8, "crash"),
        ("traps: python3[4711] trap invalid opcode ip:7f sp:7f error:0", -4, "crash"),
        (KILLED.replace("4711", "47110"), -9, None),
        (CRASHED.replace("4711", "14711"), -11, None),
    ],
)
def test_the_log_names_a_process_that_was_killed_or_crashed(log, text, status, named):
    assert systemlog.named_for(4711, time.time() - 10, status, log(text)) == named


def test_an_older_process_of_the_same_number_is_another_one(log):
    assert systemlog.named_for(4711, time.time() - 10, -9, log(KILLED, ago=20)) is None


def test_in_a_container_numbers_in_the_log_mean_other_processes(log, monkeypatch):
    path = log(KILLED)
    monkeypatch.setattr(memory, "sees_the_machines_processes", lambda: False)
    assert systemlog.named_for(4711, time.time() - 10, -9, path) is None


def test_a_log_that_may_not_be_read_names_nobody(log, tmp_path):
    assert systemlog.named_for(4711, 0.0, -9, tmp_path / "missing") is None
    assert systemlog.named_for(os.getpid(), time.time(), -9) is None
