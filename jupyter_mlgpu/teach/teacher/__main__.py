"""The commands of the teacher's view: `serve`, which a hub runs, and `forget` for administrators.

Exit status: 0 for success, 2 for an error, with one sentence on stderr.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from jupyter_mlgpu.record.documentation import page
from jupyter_mlgpu.record.errors import MlgpuError
from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.option_parser import WordsParser
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.visible import visible, visible_line
from jupyter_mlgpu.teach.teacher import logs
from jupyter_mlgpu.teach.teacher.settings import DATABASE, KEEP_DAYS, TEACHERS, settings_from

_PROGRAM = "python -m jupyter_mlgpu.teacher"
_EXAMPLE = f"""\
examples:
  {_PROGRAM} --database sqlite:////srv/mlgpu-teacher/class.sqlite
  {_PROGRAM} --database postgresql://mlgpu@db.example.org/mlgpu
  {_PROGRAM} --database sqlite:////srv/mlgpu-teacher/class.sqlite --forget ada

Put the PostgreSQL password in the file named by PGPASSFILE: other users can see a command's arguments.
The configuration for jupyterhub_config.py:
{{page}}
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return the exit status."""
    parser = WordsParser(
        prog=_PROGRAM,
        description="Show a class's lesson progress and last receipts, as a service of JupyterHub.",
        epilog=_EXAMPLE.format(page=page("teacher")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.explained = f"`{_PROGRAM} --help` shows examples."
    parser.add_argument("--database", default=DATABASE, metavar="URL", help="default: %(default)s")
    parser.add_argument(
        "--teachers",
        default=TEACHERS,
        metavar="GROUP",
        help="the hub's group that sees the class; default: %(default)s",
    )
    parser.add_argument(
        "--keep-days",
        type=int,
        default=KEEP_DAYS,
        metavar="N",
        help="delete reports after N days; default: %(default)s",
    )
    parser.add_argument(
        "--socket",
        type=Path,
        metavar="PATH",
        help="also listen on a Unix socket, in a folder that students can enter but not write to",
    )
    parser.add_argument("--forget", metavar="STUDENT", help="delete a student's data, then exit")
    try:
        _run(parser.parse_args(argv))
    except MlgpuError as error:
        print(f"{_PROGRAM}: {visible(str(error))}", file=sys.stderr)
        return 2
    return 0


def _run(arguments: argparse.Namespace) -> None:
    require(say("The teacher's view"), "teacher", "jupyterhub", "sqlalchemy")
    from jupyter_mlgpu.teach.teacher.database import open_database
    from jupyter_mlgpu.teach.teacher.folders import make_folders
    from jupyter_mlgpu.teach.teacher.server import serve
    from jupyter_mlgpu.teach.teacher.store import ReportStore

    if arguments.forget is not None:
        store = ReportStore(open_database(arguments.database))
        count = store.forget(arguments.forget)
        store.close()
        name = visible_line(arguments.forget)
        print(f"No data for {name!r}." if count is None else f"Deleted {count:,} records of {name!r}.")
        return
    logging.basicConfig(level=logging.WARNING, handlers=[logs.handler()])
    settings = settings_from(os.environ, arguments.teachers, arguments.keep_days, arguments.socket)
    make_folders(arguments.database, arguments.socket)
    asyncio.run(serve(settings, ReportStore(open_database(arguments.database))))


if __name__ == "__main__":
    sys.exit(main())
