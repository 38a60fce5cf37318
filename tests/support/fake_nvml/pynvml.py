# ruff: noqa: N802 - the names are NVML's own
"""A driver with one GPU of 300 W, for tests with a real kernel; FAKE_NVML=none: there is no driver.

Its energy counter moves every 100 ms and takes 3.5 ms to be read, as an H200's does.
"""

import os
import threading
import time
from types import SimpleNamespace

NVML_TEMPERATURE_GPU = 0
BEGUN = time.perf_counter()
TOTAL = 80 * 1024**3

#: Set it in a cell, as if something had been put on the GPU.
used = 2 * 1024**3
#: The names of the threads that read the energy counter.
readers = []


class NVMLError(Exception):
    pass


def nvmlInit():
    if os.environ.get("FAKE_NVML") == "none":
        raise NVMLError("Driver Not Loaded")


def nvmlDeviceGetCount():
    return 1


def nvmlDeviceGetHandleByIndex(index):
    return index


def nvmlDeviceGetName(handle):
    return "Fake GPU"


def nvmlDeviceGetMemoryInfo(handle):
    return SimpleNamespace(total=TOTAL, used=used, free=TOTAL - used)


def nvmlDeviceGetUtilizationRates(handle):
    return SimpleNamespace(gpu=25, memory=10)


def nvmlDeviceGetPowerUsage(handle):
    return 300_000


def nvmlDeviceGetTemperature(handle, sensor):
    return 40


def nvmlDeviceGetTotalEnergyConsumption(handle):
    readers.append(threading.current_thread().name)
    time.sleep(0.0035)
    return int(300_000 * ((time.perf_counter() - BEGUN) // 0.1 * 0.1))
