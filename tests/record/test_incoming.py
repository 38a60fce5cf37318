"""Files that somebody else made are opened without waiting, without side doors, and up to a size."""

import os
import socket
import threading
from pathlib import Path

import pytest

from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.incoming import opened, read_bytes, read_json


def read(path: Path, most: int = 10, **how: bool) -> bytes:
    return read_bytes(path, most=most, what="a records file", **how)


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(b"1234567890")

    assert read(tmp_path / "r") == b"1234567890"


@pytest.mark.parametrize("text", ["", "[", "{'a': 1}", "[" * 100_000, "1" * 10_000])
def test_what_is_no_json_is_said_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "r").write_text(text)

    with pytest.raises(RecordError, match="it holds no JSON"):
        read_json(tmp_path / "r", most=10**6, what="a records file")


def test_the_size_is_limited_before_anything_is_read(tmp_path: Path) -> None:
    with (tmp_path / "r").open("wb") as file:
        file.truncate(10**12)  # takes no room on the disk

    with pytest.raises(UsageError, match="cannot be read as a records file, for it has more than 2 MB"):
        read(tmp_path / "r", most=2_000_000)


def test_a_file_that_grows_while_it_is_read_is_not_read_further(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(b"12345")

    with opened(path, most=10, what="a log") as file:
        with path.open("ab") as more:
            more.write(b"x" * 100_000)
        with pytest.raises(UsageError, match="for it has more than 10 bytes"):
            file.read()

    path.write_bytes(b"12345")
    with opened(path, most=10, what="a log") as file:
        with path.open("ab") as more:
            more.write(b"x" * 100_000)
        with pytest.raises(UsageError, match="for it has more than 10 bytes"):
            file.readline()


def test_a_file_without_a_size_of_its_own_has_the_limit_too() -> None:
    endless = Path("/proc/self/maps")  # a regular file of 0 bytes, by its status
    if not endless.exists():
        pytest.skip("only Linux has /proc")

    with pytest.raises(UsageError, match="more than 10 bytes"):
        read(endless)


def test_it_can_be_sought_in(tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(b"1234567890")

    with opened(tmp_path / "r", most=10, what="a log") as file:
        assert file.seek(0, os.SEEK_END) == 10
        assert file.seek(4) == 4
        assert (file.read(2), file.read()) == (b"56", b"7890")


@pytest.mark.parametrize("kind", ["a folder", "a pipe (FIFO)", "a socket", "a device"])
def test_what_is_no_regular_file_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "r"
    if kind == "a folder":
        path.mkdir()
    elif kind == "a pipe (FIFO)":
        os.mkfifo(path)
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(path))
    else:
        path.symlink_to("/dev/zero")
    said: list[str] = []

    def reads() -> None:
        try:
            read(path)
        except UsageError as error:
            said.append(str(error))

    reader = threading.Thread(target=reads, daemon=True)
    reader.start()
    reader.join(5)

    assert said == [f"{path} cannot be read as a records file, for it is {kind}; give the name of a file."]


def test_links_are_followed_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "r").symlink_to(tmp_path / "secret")

    assert read(tmp_path / "r") == b"secret"
    with pytest.raises(UsageError, match="for it is a link"):
        read(tmp_path / "r", follow=False)


def test_what_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"r cannot be read as a records file \(No such file"):
        read(tmp_path / "r")
    with pytest.raises(UsageError, match="null"):
        read(Path("a\0b"))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(UsageError, match="link"):
        read(tmp_path / "loop")


def test_errors_of_the_reader_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(b"1")

    with pytest.raises(OSError, match="its own"), opened(tmp_path / "r", most=10, what="a log"):
        raise OSError("its own")
