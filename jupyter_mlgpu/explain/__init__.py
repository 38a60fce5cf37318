"""What it means, without running anything: log messages, the doctor, comparisons, growth, engines."""
