"""What a person sees of two records compared."""
