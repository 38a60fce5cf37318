"""What a person sees of several engines' records."""
