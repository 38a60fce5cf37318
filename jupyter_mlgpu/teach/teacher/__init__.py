"""The teacher's view: a JupyterHub service that stores and shows what students agreed to share.

    python -m jupyter_mlgpu.teacher --database sqlite:///teacher.sqlite

The hub starts it and identifies its users. It needs the extra `teacher`, and no other part of the package
imports it. The content of a report is in `teach/sharing/report.py`, the decisions are in docs/adr/0024.
"""
