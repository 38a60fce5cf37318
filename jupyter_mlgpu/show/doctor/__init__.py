"""What a person sees of a diagnosis."""
