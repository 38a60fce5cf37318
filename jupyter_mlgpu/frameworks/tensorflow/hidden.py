"""GPUs that exist and are kept from TensorFlow in a way that lasts until the kernel restarts."""

from __future__ import annotations

from typing import Any


def by_configuration(config: Any, started: bool) -> str | None:
    """A sentence where `tf.config` (`config`) was told to leave out every GPU, and it is too late."""
    # Before the start it can still be told otherwise; afterwards it says "Visible devices cannot be
    # modified after being initialized".
    if not started or config.get_visible_devices("GPU") or not config.list_physical_devices("GPU"):
        return None
    return (
        "TensorFlow was told to hide its GPU (tf.config.set_visible_devices), and cannot show it again once "
        "it has started: first take that line out."
    )
