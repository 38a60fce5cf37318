"""The notebook side: the only part of the package that imports IPython and ipykernel."""
