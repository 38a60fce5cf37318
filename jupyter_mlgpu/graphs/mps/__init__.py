"""The forecast for PyTorch on a Mac's GPU (MPS): what each of PyTorch's operations would do there.

`tables.py` answers for one operation and one version of PyTorch, from `operations.json`, which
`scripts/mps_tables.py` reads from PyTorch's wheels, and from three lists made by hand: `limits.py` has the
number types and ranks that MPS refuses, `wrong.py` the results known to be wrong, and `composites.py` what
operations without a kernel of their own call. No module but `trace.py` imports PyTorch.
"""
