"""The page of a forecast for PyTorch on a Mac's GPU."""
