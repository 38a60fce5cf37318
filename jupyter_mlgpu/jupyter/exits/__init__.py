"""Detects the end of a kernel: the process that started it listens, and the kernel connects at its start."""
