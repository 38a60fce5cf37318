"""What a person sees of a benchmark's run."""
