"""Plan which operations of a graph have a kernel for a device. Nothing is run, and no device is needed."""
