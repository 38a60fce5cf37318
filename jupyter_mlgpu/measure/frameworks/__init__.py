"""The frameworks that do the work: the only part of the package that touches one of them."""
