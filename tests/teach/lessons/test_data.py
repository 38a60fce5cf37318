"""The digits of lesson 7: which ones they are is said, and the network is asked for three seconds at most."""

import hashlib
import io
import socket
import threading

import numpy as np
import pytest

from jupyter_mlgpu.teach.lessons import data


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No cache of Keras, and no network."""
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.delenv(data.OFFLINE, raising=False)

    def refuse(*address, **options):
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", refuse)


def test_without_mnist_the_digits_of_scikit_learn_are_used_and_it_is_said(capsys):
    digits = data.mnist()
    assert digits.images.shape == (1438, 28, 28)
    assert digits.test_images.shape == (359, 28, 28)
    assert digits.images.dtype == np.float32
    assert (digits.images.min(), digits.images.max()) == (0, 1)
    assert set(digits.labels.tolist()) == set(range(10))
    assert capsys.readouterr().out == f"{digits.source}\n"
    assert "scikit-learn" in digits.source
    assert "it is not in the Keras cache, and the network did not answer" in digits.source


def test_the_local_digits_are_split_the_same_way_each_time(capsys):
    assert np.array_equal(data.mnist().test_images, data.mnist().test_images)


def test_offline_neither_cache_nor_network_is_asked(monkeypatch, capsys):
    monkeypatch.setenv(data.OFFLINE, "1")
    monkeypatch.setattr(data, "_read_cache", lambda: pytest.fail("the cache was asked"))
    assert "only local data was requested" in data.mnist().source
    assert not data.reachable("localhost")


@pytest.fixture
def small_mnist(monkeypatch):
    """A file as MNIST's, with its checksum taken for the right one."""
    images, labels = np.full((3, 28, 28), 255, np.uint8), np.arange(3, dtype=np.uint8)
    file = io.BytesIO()
    np.savez(file, x_train=images, y_train=labels, x_test=images, y_test=labels)
    monkeypatch.setattr(data, "_SHA256", hashlib.sha256(file.getvalue()).hexdigest())
    return file.getvalue()


def test_mnist_is_read_from_the_cache_of_keras(tmp_path, small_mnist, capsys):
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "mnist.npz").write_bytes(small_mnist)
    digits = data.mnist()
    assert digits.images.shape == (3, 28, 28)
    assert digits.images.max() == 1
    assert "MNIST, 60,000 training images" in capsys.readouterr().out


def test_a_damaged_file_in_the_cache_is_not_used(tmp_path, small_mnist, capsys):
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "mnist.npz").write_bytes(small_mnist[:-1] + b"?")
    assert "scikit-learn" in data.mnist().source


def test_mnist_is_fetched_where_the_network_answers_and_kept(monkeypatch, tmp_path, small_mnist, capsys):
    monkeypatch.setattr(data, "reachable", lambda host: True)
    monkeypatch.setattr(data.urllib.request, "urlopen", lambda url, timeout: io.BytesIO(small_mnist))
    assert data.mnist().images.shape == (3, 28, 28)
    assert (tmp_path / "datasets" / "mnist.npz").read_bytes() == small_mnist


def test_a_network_that_never_answers_is_given_up(monkeypatch):
    monkeypatch.setattr(data, "_ANSWERS", 0.05)
    asked, called, given_up = [], threading.Event(), threading.Event()

    def never(address, timeout):
        asked.append(address)
        called.set()
        given_up.wait()
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", never)
    assert not data.reachable("example.org")
    assert called.wait(60)  # the thread may begin late on a busy machine
    given_up.set()
    assert asked == [("example.org", 443)]
