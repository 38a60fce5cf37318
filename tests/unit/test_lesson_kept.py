"""What a lesson keeps for another: found again, and not used where it is damaged."""

import pytest

from jupyter_mlgpu.lessons import kept

np = pytest.importorskip("numpy", reason="NumPy is not installed here")


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv(kept.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_was_kept_is_found_again_as_it_was():
    words = kept.keep("small", {"weights": np.arange(6.0).reshape(2, 3), "name": np.array("[MASK]")})
    assert words.startswith("Kept in your cache folder as small.npz")
    arrays, where = kept.kept("small")
    assert arrays["weights"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert str(arrays["name"]) == "[MASK]"
    assert where == "Loaded from your cache folder: small.npz, checksum right."


def test_what_was_never_kept_is_missing_with_a_reason():
    assert kept.kept("small") == (None, "There is no small.npz in your cache folder.")


@pytest.mark.parametrize("damage", ["cut short", "changed", "without a checksum"])
def test_what_is_damaged_is_not_used(cache, damage):
    kept.keep("small", {"weights": np.arange(6.0)})
    file = cache / "small.npz"
    data = file.read_bytes()
    if damage == "cut short":
        file.write_bytes(data[:-1])
    elif damage == "changed":
        file.write_bytes(data[:60] + bytes([data[60] ^ 1]) + data[61:])
    else:
        (cache / "small.sha256").unlink()
    arrays, why = kept.kept("small")
    assert arrays is None
    assert ("is damaged" in why) == (damage != "without a checksum")


def test_a_folder_that_cannot_be_written_is_said_and_does_not_raise(cache):
    cache.write_text("a file stands where the folder should be")
    assert kept.keep("small", {"weights": np.arange(6.0)}).startswith("small.npz could not be kept: ")


def test_it_is_kept_where_the_system_keeps_such_things(monkeypatch, tmp_path):
    monkeypatch.delenv(kept.VARIABLE)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert kept.folder() == tmp_path / "jupyter_mlgpu"
    monkeypatch.setattr("sys.platform", "darwin")
    assert kept.folder().parts[-3:] == ("Library", "Caches", "jupyter_mlgpu")
