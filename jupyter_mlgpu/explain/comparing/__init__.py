"""What differs between runs of cells, and whether it can be told from them."""
