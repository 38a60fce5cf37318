"""Answer an assistant's questions about saved records and logs, over standard input and output (MCP).

An assistant's client starts this command: its settings are below. It only reads: it runs no
code of yours, writes no file and opens no network connection.
"""

from __future__ import annotations

import argparse
import sys

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.sentence import say

EXAMPLE = """\
example:
  jupyter mlgpu mcp        as an assistant's client starts it

In a client's settings:
  {"mcpServers": {"jupyter-mlgpu": {"command": "jupyter", "args": ["mlgpu", "mcp"]}}}

VS Code says "servers" for "mcpServers". Where the client does not find `jupyter`, give its whole path.
It needs `pip install "jupyter_mlgpu[mcp]"`.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments: the assistant names files in its questions."""


def main(arguments: argparse.Namespace) -> int:
    """Answer until the client closes standard input; return the exit status."""
    require("jupyter mlgpu mcp", "mcp", "mcp")
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            say(
                "An assistant's client starts this command and talks to it over standard input: "
                "`jupyter mlgpu mcp --help` shows what to put into its settings."
            )
        )
    from jupyter_mlgpu.jupyter.assistant import server

    server.make().run("stdio")
    return 0
