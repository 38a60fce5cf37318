"""What a person sees of a race."""
