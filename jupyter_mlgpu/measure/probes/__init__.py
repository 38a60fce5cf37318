"""One quantity a module, read before and after a cell."""
