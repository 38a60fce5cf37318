"""The door to the teacher's view, which hubs start as `python -m jupyter_mlgpu.teacher`: `teach/teacher/`."""

import sys

from jupyter_mlgpu.teach.teacher.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
