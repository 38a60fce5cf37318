"""The plan: which operations of a graph have a kernel for a device. Nothing is run, no device is needed."""
