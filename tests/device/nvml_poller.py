"""The independent half of test_energy_on_gpu.py: a process that reads NVML as often as it can.

    python nvml_poller.py INDEX FILE

Nothing of jupyter_mlgpu is used. A line holds the moments before and after the energy counter was read (in
seconds of CLOCK_MONOTONIC, one for all processes), the counter in mJ, and the GPU's used memory in bytes.
"""

import sys
import time

import pynvml

pynvml.nvmlInit()
gpu = pynvml.nvmlDeviceGetHandleByIndex(int(sys.argv[1]))
with open(sys.argv[2], "w", buffering=1) as file:
    while True:
        before = time.monotonic()
        millijoules = pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu)
        after = time.monotonic()
        used = pynvml.nvmlDeviceGetMemoryInfo(gpu).used
        file.write(f"{before} {after} {millijoules} {used}\n")
