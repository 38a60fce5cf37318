"""The version of the package; labextension/package.json carries the same one."""

__version__ = "0.1.0"
