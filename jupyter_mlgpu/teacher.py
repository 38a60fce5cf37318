"""Entry point of the teacher's view in `teach/teacher/`: hubs start `python -m jupyter_mlgpu.teacher`."""

import sys

from jupyter_mlgpu.teach.teacher.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
