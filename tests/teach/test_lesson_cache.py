"""What a lesson keeps for another: found again, and not used where it is damaged."""

import os
import threading

import pytest

from jupyter_mlgpu.record import cachefolder
from jupyter_mlgpu.teach.lessons import cache as lesson_cache

np = pytest.importorskip("numpy", reason="NumPy is not installed here")


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv(cachefolder.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_was_kept_is_found_again_as_it_was():
    words = lesson_cache.save("small", {"weights": np.arange(6.0).reshape(2, 3), "name": np.array("[MASK]")})
    assert words.startswith("Saved in your cache folder as small.npz")
    arrays, where = lesson_cache.load("small")
    assert arrays["weights"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert str(arrays["name"]) == "[MASK]"
    assert where == "Loaded from your cache folder: small.npz, checksum correct."


def test_what_was_never_kept_is_missing_with_a_reason():
    assert lesson_cache.load("small") == (None, "There is no small.npz in your cache folder.")


@pytest.mark.parametrize("damage", ["cut short", "changed", "without a checksum"])
def test_what_is_damaged_is_not_used(cache, damage):
    lesson_cache.save("small", {"weights": np.arange(6.0)})
    file = cache / "small.npz"
    data = file.read_bytes()
    if damage == "cut short":
        file.write_bytes(data[:-1])
    elif damage == "changed":
        file.write_bytes(data[:60] + bytes([data[60] ^ 1]) + data[61:])
    else:
        (cache / "small.sha256").unlink()
    arrays, why = lesson_cache.load("small")
    assert arrays is None
    assert ("is damaged" in why) == (damage != "without a checksum")


def test_a_folder_that_cannot_be_written_is_said_and_does_not_raise(cache):
    cache.write_text("a file stands where the folder should be")
    assert lesson_cache.save("small", {"weights": np.arange(6.0)}).startswith(
        "small.npz could not be saved: "
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can plant a link for another user")
def test_in_a_folder_of_a_whole_class_a_planted_link_is_not_written_through(cache, tmp_path):
    cache.mkdir()
    cache.chmod(0o1777)
    (tmp_path / "mine").write_text("mine")
    (cache / "small.npz").symlink_to(tmp_path / "mine")
    os.lchown(cache / "small.npz", 12345, 12345)
    assert lesson_cache.save("small", {"weights": np.arange(6.0)}).startswith(
        "small.npz could not be saved: "
    )
    assert (tmp_path / "mine").read_text() == "mine"


def test_what_is_kept_takes_its_place_in_one_step(cache, monkeypatch):
    lesson_cache.save("small", {"weights": np.arange(6.0)})
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left")))
    assert "could not be saved" in lesson_cache.save("small", {"weights": np.arange(7.0)})
    monkeypatch.undo()
    monkeypatch.setenv(cachefolder.VARIABLE, str(cache))
    arrays, _ = lesson_cache.load("small")
    assert len(arrays["weights"]) == 6


def test_a_pipe_in_the_cache_is_not_waited_for(cache):
    cache.mkdir()
    os.mkfifo(cache / "small.npz")
    found = []
    asking = threading.Thread(target=lambda: found.append(lesson_cache.load("small")), daemon=True)
    asking.start()
    asking.join(20)
    assert found == [(None, "There is no small.npz in your cache folder.")]


def test_it_is_kept_where_the_system_keeps_such_things(monkeypatch, tmp_path):
    monkeypatch.delenv(cachefolder.VARIABLE)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cachefolder.folder() == tmp_path / "jupyter_mlgpu"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cachefolder.folder().parts[-3:] == ("Library", "Caches", "jupyter_mlgpu")
