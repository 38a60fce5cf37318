"""Release, collect, grade and report a class's labs. DIR is the course's folder, with nbgrader's layout.

  release   make the students' version, without solutions and hidden tests: DIR/release/LAB
  collect   copy hand-ins to where nbgrader expects them: DIR/submitted/STUDENT/LAB
  grade     grade every submission of a lab, write feedback and grades.csv
  report    points, devices seen, times and what the logs said, with links to the feedback

If the course has no labs, `release` first copies ours to DIR/source, with their solutions.
`release` and `grade` need nbgrader. `grade` runs students' code in a sandbox, without network access or your
files, and the tests outside it; if no sandbox works, it runs nothing. Times and memory are measured again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from jupyter_mlgpu.teach.lessons import shipped

EXAMPLE = """\
examples:
  jupyter mlgpu class release course
  jupyter mlgpu class collect course --from downloads --lab lab_1_tensor_graph
  jupyter mlgpu class grade course --lab lab_1_tensor_graph
  jupyter mlgpu class report course --lab lab_1_tensor_graph
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `jupyter mlgpu class`."""
    commands = parser.add_subparsers(dest="command", required=True, metavar="release|collect|grade|report")
    release = commands.add_parser("release", help="make the students' version of labs, without solutions")
    collect = commands.add_parser("collect", help="copy hand-ins to where nbgrader expects them")
    grade = commands.add_parser("grade", help="grade every submission of a lab with nbgrader")
    report = commands.add_parser("report", help="report points, devices, times and logs")
    for command in (release, collect, grade, report):
        command.add_argument("folder", type=Path, metavar="DIR", help="the course's folder")
    for command in (collect, grade):
        command.add_argument("--lab", required=True, help="the lab's name: its folder in DIR/source")
    release.add_argument("--lab", help="only this lab (default: all labs in DIR/source)")
    release.add_argument(
        "--language",
        choices=shipped.LANGUAGES,
        help="the language of our labs, if the course has none (default: en)",
    )
    collect.add_argument(
        "--from",
        dest="inbox",
        type=Path,
        required=True,
        metavar="INBOX",
        help="the folder with the hand-ins: a folder or a notebook for each student",
    )
    collect.add_argument(
        "--replace", action="store_true", help="let a newer hand-in replace one collected earlier"
    )
    grade.add_argument(
        "--timeout",
        type=int,
        default=600,
        metavar="SECONDS",
        help="the longest a cell may take (default: 600); a whole submission may take twice that",
    )
    grade.add_argument(
        "--unsafe-same-user",
        action="store_true",
        help="run the students' code without a sandbox: it can do everything you can",
    )
    grade.add_argument(
        "--trust-receipts",
        action="store_true",
        help="take times, memory and devices from the receipts handed in, which a student can edit",
    )
    grade.add_argument(
        "--show-hidden-tests",
        action="store_true",
        help="show the hidden tests in the feedback (default: only what they found)",
    )
    report.add_argument("--lab", help="only this lab (default: all submitted labs)")
    report.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the page to write; its text goes next to it (default: DIR/class_report.html)",
    )


def main(arguments: argparse.Namespace) -> int:
    """Run the chosen command, and return the exit status."""
    if arguments.command == "release":
        from jupyter_mlgpu.teach.commands.release import release

        return release(arguments.folder, arguments.lab, arguments.language)
    if arguments.command == "collect":
        from jupyter_mlgpu.teach.commands.collect import collect

        return collect(arguments.folder, arguments.lab, arguments.inbox, replace=arguments.replace)
    if arguments.command == "grade":
        from jupyter_mlgpu.teach.commands.grade import grade

        return grade(
            arguments.folder,
            arguments.lab,
            timeout=arguments.timeout,
            unsafe_same_user=arguments.unsafe_same_user,
            trust_receipts=arguments.trust_receipts,
            show_hidden_tests=arguments.show_hidden_tests,
        )
    from jupyter_mlgpu.teach.commands.report import report

    return report(arguments.folder, arguments.lab, arguments.out)
