"""The emulated Metal device, built once a run and given to this process and every kernel that it starts."""

from __future__ import annotations

import os

import pytest

from tests.integration.conftest import spares, start_for_module, start_kernel
from tests.metal_emulator import building

__all__ = ["spares", "start_for_module", "start_kernel"]

#: Where TensorFlow looks for plug-ins when it is imported.
VARIABLE = "TF_PLUGGABLE_DEVICE_LIBRARY_PATH"


def pytest_configure(config: pytest.Config) -> None:
    """Before any test can import TensorFlow, which looks once."""
    if building.why_not() is None and not config.option.collectonly:
        os.environ[VARIABLE] = str(building.library())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = building.why_not()
    if reason is not None:
        for item in items:
            if "metal_emulator" in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=reason))
