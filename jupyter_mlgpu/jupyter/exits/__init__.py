"""Who sees a kernel die: the process that has started it listens, the kernel calls it when it begins."""
