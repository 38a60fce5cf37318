"""From a cell of the notebook to its record and its receipt."""
