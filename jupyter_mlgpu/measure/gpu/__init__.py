"""GPU activity of a cell (busy time, kernels, copies, launches) from CUPTI's records or a driver's counts."""
