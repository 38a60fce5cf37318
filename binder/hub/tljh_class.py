"""The class's part of the configuration of The Littlest JupyterHub; README.md says where it belongs.

JupyterHub runs this file, and gives it `get_config`.
"""

#: The names of those who see the whole class in the teacher's view.
TEACHERS: list[str] = []

USER = "jupyter-mlgpu-teacher"
DATA = f"/var/lib/{USER}"
#: A port below 1024: each student has an account on this computer, and could listen on any other while the
#: service is down, to be sent everybody's tokens.
URL = "http://127.0.0.1:910"

c = get_config()  # noqa: F821
# Where %mlc_share sends what a student chose to share: to the service below, past the proxy.
c.Spawner.environment.update({"JUPYTER_MLGPU_TEACHER_URL": f"{URL}/services/teacher"})
c.JupyterHub.services.append(
    {
        "name": "teacher",
        "url": URL,
        "command": [
            # The hub runs as root; what reads students' reports must not. It may open that port, and no more.
            *("/usr/bin/setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs"),
            *("--inh-caps=-all,+net_bind_service", "--ambient-caps=-all,+net_bind_service"),
            *("/opt/tljh/user/bin/python", "-m", "jupyter_mlgpu.teacher"),
            *("--database", f"sqlite:///{DATA}/teacher.sqlite"),
        ],
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
