"""Lines that remedies share."""

from __future__ import annotations

#: After variables were set in a shell: a kernel has the variables of the server that started it.
FROM_THIS_SHELL = "\n# Then start JupyterLab again from this shell."
