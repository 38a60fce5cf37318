"""The plan: which operations of a graph have a kernel for a device, without running it or having the device."""
