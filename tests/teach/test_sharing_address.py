"""The token of a student's server goes where only the hub's administrator can listen, and nowhere else."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.teach.sharing import address as addresses
from jupyter_mlgpu.teach.sharing.address import Address, address_of, why_untrusted
from jupyter_mlgpu.teach.sharing.post import post
from jupyter_mlgpu.testing.sharing import FakeTeacher


class Listener:
    """Listens where somebody else should, answers nothing, and keeps every byte that it is sent."""

    def __init__(self, where: socket.socket) -> None:
        self._socket = where
        self._socket.listen()
        self.heard = b""
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                while piece := connection.recv(4096):
                    self.heard += piece

    def close(self) -> None:
        """Hear what is still on its way, and no more."""
        if self._socket.fileno() < 0:
            return
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(10)


@pytest.fixture
def student() -> Iterator[tuple[Listener, int]]:
    """Another student's program on a port of this machine."""
    where = socket.socket()
    where.bind(("127.0.0.1", 0))
    one = Listener(where)
    yield one, where.getsockname()[1]
    one.close()


@pytest.fixture
def teacher() -> Iterator[FakeTeacher]:
    one = FakeTeacher()
    yield one
    one.cut()


def asked(url: str) -> Address:
    return address_of({"JUPYTER_MLGPU_TEACHER_URL": url, "JUPYTERHUB_API_TOKEN": "a-token"})


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST.", "[::1]", "127.8.9.1", "0.0.0.0", "[::]"]
)
def test_a_port_of_this_machine_that_anybody_may_open_is_refused_in_one_sentence(host: str):
    with pytest.raises(UsageError) as refused:
        asked(f"http://{host}:10101/services/teacher")
    sentence = str(refused.value)
    assert "port 10101 of this machine" in sentence
    assert "whoever runs this JupyterHub" in sentence
    assert "Nothing is sent" in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433"])
def test_no_byte_goes_to_a_student_who_listens_on_this_machine(host: str, student: tuple[Listener, int]):
    listener, port = student
    answer = post(Address(f"http://{host}:{port}/services/teacher", "a-token"), b"{}", lambda: True)
    assert answer.taken is None
    assert "any program of this machine" in str(answer.why)
    listener.close()
    assert listener.heard == b""


def test_a_name_of_this_machine_is_this_machine(
    student: tuple[Listener, int], monkeypatch: pytest.MonkeyPatch
):
    listener, port = student
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))],
    )
    answer = post(Address(f"http://hub.example:{port}/x", "a-token"), b"{}", lambda: True)
    assert "any program of this machine" in str(answer.why)
    assert listener.heard == b""


def test_a_port_that_only_root_may_open_and_another_machine_s_are_taken():
    assert asked("http://127.0.0.1:910/services/teacher").token == "a-token"
    assert asked("http://127.0.0.1/services/teacher").token == "a-token"
    assert asked("https://localhost:8443/services/teacher").token == "a-token"
    assert asked("http://proxy-public/services/teacher").token == "a-token"
    assert asked("http://hub:10101/services/teacher").token == "a-token"


def test_where_the_system_lets_everybody_open_every_port_none_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "start").write_text("0\n")
    monkeypatch.setattr(addresses, "_FIRST_OPEN_PORT", tmp_path / "start")
    with pytest.raises(UsageError, match="port 910 of this machine"):
        asked("http://127.0.0.1:910/services/teacher")


def test_a_report_goes_through_a_socket_in_a_folder_of_the_service(teacher: FakeTeacher):
    answer = post(asked(teacher.url), b"not a report", lambda: True)
    assert answer.final
    assert teacher.bodies == [b"not a report"]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http+unix://", "should be an address"),
        ("http+unix://relative/services/teacher", "should be an address"),
        (f"http+unix://{quote('/run/../tmp/x', safe='')}/services/teacher", "should be an address"),
    ],
)
def test_an_address_of_no_socket_is_refused(url: str, said: str):
    with pytest.raises(UsageError, match=said):
        asked(url)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for a socket; the path of a socket may have 107 letters, so one is short."""
    one = tmp_path / "s"
    one.mkdir(mode=0o755)
    return one


def listening(path: Path) -> socket.socket:
    one = socket.socket(socket.AF_UNIX)
    os.chdir(path.parent)
    one.bind(path.name)
    one.listen()
    return one


@pytest.fixture(autouse=True)
def _come_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_socket_that_only_its_service_can_have_put_there_is_beyond_doubt(folder: Path):
    with listening(folder / "x"):
        assert why_untrusted(folder / "x") is None


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757, 0o722])
def test_a_folder_that_others_may_write_to_is_doubted(folder: Path, mode: int):
    with listening(folder / "x"):
        folder.chmod(mode)
        assert why_untrusted(folder / "x") == f"others may write to {folder}"


def test_a_folder_above_that_others_may_write_to_is_doubted(folder: Path):
    inner = folder / "inner"
    inner.mkdir(mode=0o755)
    folder.chmod(0o777)
    with listening(inner / "x"):
        assert why_untrusted(inner / "x") == f"others may write to {folder}"


def test_a_link_on_the_way_and_what_is_no_socket_are_doubted(folder: Path, tmp_path: Path):
    (folder / "file").write_text("")
    assert why_untrusted(folder / "file") == f"{folder / 'file'} is no socket"
    (tmp_path / "link").symlink_to(folder)
    with listening(folder / "x"):
        assert why_untrusted(tmp_path / "link" / "x") == f"{tmp_path / 'link'} is a link"
        (folder / "other").symlink_to(folder / "x")
        assert why_untrusted(folder / "other") == f"{folder / 'other'} is a link"
    assert "cannot be looked at" in str(why_untrusted(folder / "none"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can stand for two people")
def test_what_another_student_put_where_everybody_may_write_is_doubted(folder: Path):
    folder.chmod(0o1777)  # as /tmp is
    with listening(folder / "x"):
        assert why_untrusted(folder / "x") is None  # root's own
        os.chown(folder / "x", 65_534, -1)
        assert why_untrusted(folder / "x") == f"others may write to {folder}"
    theirs = folder / "theirs"
    theirs.mkdir(mode=0o755)
    os.chown(theirs, 65_534, -1)
    with listening(theirs / "x"):
        assert why_untrusted(theirs / "x") == f"others may write to {folder}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_that_root_gave_to_the_service_is_beyond_doubt(folder: Path):
    os.chown(folder, 65_534, -1)
    with listening(folder / "x"):
        os.chown(folder / "x", 65_534, -1)
        assert why_untrusted(folder / "x") is None


def test_no_byte_goes_into_a_socket_in_a_folder_that_others_may_write_to(folder: Path):
    with listening(folder / "x") as where:
        folder.chmod(0o777)
        listener = Listener(where)
        url = f"http+unix://{quote(str(folder / 'x'), safe='')}/services/teacher"
        answer = post(Address(url, "a-token"), b"{}", lambda: True)
        assert f"others may write to {folder}" in str(answer.why)
        assert answer.taken is None
        listener.close()
        assert listener.heard == b""
