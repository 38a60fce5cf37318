"""The extension of the Jupyter server: HTTP handlers for the page, and a hook for saving notebooks."""
