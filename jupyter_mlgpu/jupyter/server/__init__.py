"""What JupyterLab's server does for the page."""
