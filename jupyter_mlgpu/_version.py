"""The version of the package. labextension/package.json has the same one."""

__version__ = "0.1.0"
