"""The class's part of the configuration of The Littlest JupyterHub; README.md says where it belongs.

JupyterHub runs this file, and gives it `get_config`.
"""

#: The names of those who see the whole class in the teacher's view.
TEACHERS: list[str] = []

DATA = "/var/lib/jupyter-mlgpu-teacher"

c = get_config()  # noqa: F821
# Where %mlc_share sends what a student chose to share: to the service below, past the proxy.
c.Spawner.environment.update({"JUPYTER_MLGPU_TEACHER_URL": "http://127.0.0.1:10101/services/teacher"})
c.JupyterHub.services.append(
    {
        "name": "teacher",
        "url": "http://127.0.0.1:10101",
        "command": [
            *("/opt/tljh/user/bin/python", "-m", "jupyter_mlgpu.teacher"),
            *("--database", f"sqlite:///{DATA}/teacher.sqlite"),
        ],
        # The hub runs as root; what reads students' reports must not.
        "user": "jupyter-mlgpu-teacher",
        "cwd": DATA,
        "oauth_no_confirm": True,
    }
)
c.JupyterHub.load_groups.update({"teachers": {"users": TEACHERS}})
c.JupyterHub.load_roles.extend(
    [
        # Whoever has logged in may open the view, and sees there only what is theirs.
        {"name": "user", "scopes": ["self", "access:services!service=teacher"]},
        # A student's server may bring reports. The first two are what JupyterHub gives every server.
        {
            "name": "server",
            "scopes": ["users:activity!user", "access:servers!server", "access:services!service=teacher"],
        },
    ]
)
