"""Capture of native output by cell: the descriptors that are captured, and output that waits to be read."""
