"""Explain what was measured, without running anything: limits, exits, logs, comparisons, doctor, engines."""
