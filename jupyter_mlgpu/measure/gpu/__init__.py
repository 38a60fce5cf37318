"""What a CUDA GPU did in a cell, from CUPTI's activity records: busy time, kernels, copies, launches."""
