"""What a person sees of a graph of ML Compute's layers."""
