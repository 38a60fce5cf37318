"""The rendering of an ML Compute graph."""
