"""Checks a run's PyTorch operations against the same operations in float64 on the CPU.

`check_mode` sees each operation, `kinds` says how it is compared, `memory` if its copies fit, `reference`
computes it again, `bounds` says which error its number type explains, by `changes` of its arguments,
`compare` finds the largest error beyond it, and `result` holds the answer.
"""
