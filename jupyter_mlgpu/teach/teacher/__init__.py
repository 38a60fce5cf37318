"""The teacher's view: a JupyterHub service that takes, keeps and shows what students agreed to send.

    python -m jupyter_mlgpu.teacher --database sqlite:///teacher.sqlite

The hub starts it, and says who everybody is. It needs the extra `teacher`, and nothing else of the package
imports it. What a report holds is in `teach/sharing/report.py`, the decisions in docs/adr/0024.
"""
