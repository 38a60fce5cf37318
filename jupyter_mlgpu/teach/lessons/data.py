"""Training data of the lessons: MNIST if it is available, otherwise the digits of scikit-learn.

The data in use is always printed, and kept as `source`. If JUPYTER_MLGPU_OFFLINE is set, neither the network
nor the Keras cache is used, so saved lessons are the same on every machine.
"""

from __future__ import annotations

import hashlib
import io
import os
import socket
import threading
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.record import incoming
from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, joined, say

if TYPE_CHECKING:
    import numpy as np

OFFLINE = "JUPYTER_MLGPU_OFFLINE"

#: The address that Keras downloads from, and the checksum that Keras expects (keras.datasets.mnist).
_MNIST = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"
_SHA256 = "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"
#: Largest file that is read, in bytes. MNIST has 11 MB.
_MOST_BYTES = 20_000_000

#: Seconds within which the network has to answer, and within which the 11 MB have to arrive.
_ANSWERS, _ARRIVES = 3.0, 30.0

#: One image in five is used for testing. The fixed seed makes the split the same every time.
_TESTED, _SEED = 5, 0


@dataclass(frozen=True)
class Digits:
    """Images of handwritten digits, [number, 28, 28] from 0 to 1, with labels 0 to 9.

    `source` is a sentence that names the data.
    """

    images: np.ndarray[Any, Any]
    labels: np.ndarray[Any, Any]
    test_images: np.ndarray[Any, Any]
    test_labels: np.ndarray[Any, Any]
    source: str


def mnist() -> Digits:
    """Return MNIST from the Keras cache or the network, otherwise scikit-learn's digits, enlarged.

    It prints a sentence that names the data.
    """
    if os.environ.get(OFFLINE):
        found = _local_digits(say("only local data was requested"))
    else:
        nowhere = say("it is not in the Keras cache, and the network did not answer")
        found = _mnist(_read_cache()) or _mnist(_download()) or _local_digits(nowhere)
    print(found.source)
    return found


def reachable(host: str, port: int = 443) -> bool:
    """Return True if a host accepts a connection within 3 seconds.

    It is always False if JUPYTER_MLGPU_OFFLINE is set.
    """
    if os.environ.get(OFFLINE):
        return False
    answered = threading.Event()

    def ask() -> None:
        try:
            socket.create_connection((host, port), timeout=_ANSWERS).close()
        except OSError:
            return
        answered.set()

    # A name lookup has no timeout of its own, so another thread does it.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_ANSWERS)
    return answered.is_set()


def _cache() -> Path:
    home = os.environ.get("KERAS_HOME")
    return (Path(home) if home else Path.home() / ".keras") / "datasets" / "mnist.npz"


def _read_cache() -> bytes | None:
    try:
        return incoming.read_bytes(_cache(), most=_MOST_BYTES, what="the digits of MNIST")
    except UsageError:
        return None


def _download() -> bytes | None:
    if not reachable("storage.googleapis.com"):
        return None
    arrived: list[bytes] = []

    def fetch() -> None:
        try:
            with urllib.request.urlopen(_MNIST, timeout=_ANSWERS) as answer:
                arrived.append(answer.read())
        except OSError:
            return

    fetching = threading.Thread(target=fetch, daemon=True)
    fetching.start()
    fetching.join(_ARRIVES)
    if not arrived or hashlib.sha256(arrived[0]).hexdigest() != _SHA256:
        return None
    with suppress(RecordError):  # it is downloaded again next time
        write_atomically(_cache(), arrived[0])
    return arrived[0]


def _mnist(file: bytes | None) -> Digits | None:
    import numpy as np

    if file is None or hashlib.sha256(file).hexdigest() != _SHA256:
        return None
    with np.load(io.BytesIO(file)) as one:
        return Digits(
            one["x_train"].astype(np.float32) / 255,
            one["y_train"].astype(np.int64),
            one["x_test"].astype(np.float32) / 255,
            one["y_test"].astype(np.int64),
            translate(say("Data: MNIST, 60,000 training images of 28 x 28 and 10,000 test images.")),
        )


def _local_digits(why: Sentence) -> Digits:
    import numpy as np
    from sklearn.datasets import load_digits

    found = load_digits()
    # Each pixel is repeated three times across and down, with a border of 2: 28 x 28, as in MNIST.
    large = np.pad(np.kron(found.images, np.ones((1, 3, 3))), ((0, 0), (2, 2), (2, 2)))
    images, labels = large.astype(np.float32) / 16, found.target.astype(np.int64)
    order = np.random.default_rng(_SEED).permutation(len(images))
    test, train = order[: len(order) // _TESTED], order[len(order) // _TESTED :]
    source = joined(
        say(
            "Data: scikit-learn's digits, enlarged from 8 x 8 to 28 x 28: {train} training "
            "images and {test} test images.",
            train=len(train),
            test=len(test),
        ),
        say("MNIST was not used: {why}.", why=why),
    )
    return Digits(images[train], labels[train], images[test], labels[test], translate(source))
