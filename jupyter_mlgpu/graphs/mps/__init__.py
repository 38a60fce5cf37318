"""Forecasts of which operations of PyTorch code have a kernel on a Mac's GPU (MPS), on any machine."""
