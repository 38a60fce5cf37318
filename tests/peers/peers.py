"""Runs the test suites of ipykernel, nbclient and IPython, plainly and with us loaded; `make test-peers`.

The suites are those of the versions that .venv has, out of their source distributions. In the second run the
environment's own configuration of IPython loads us into each kernel and each `ipython`, tracing on, and the
tests know nothing of it. A test that fails in this run only is run again with us, alone in a fresh process,
and is flaky where it ends as it does plainly (docs/adr/0026). One that fails again, and passes alone plainly,
is our fault. Those that fail plainly are named.

It is a plugin of those runs of pytest, too, which keeps how each test ended, also of a run that dies.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from run_tests import MOST_FLAKY, keep_report

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "peers"
LIST = ROOT / "constraints" / "make.txt"
#: Where every IPython of this environment looks for its configuration, whatever folder a test gives it.
CONFIGURATION = Path(sys.prefix) / "etc" / "ipython" / "ipython_config.py"
#: Seconds that a suite may take; a single test has its own limit.
LIMIT = 1500
TEST_LIMIT = 120
#: What pytest-asyncio asks for with a warning, and suites that take warnings for errors do not say.
LOOPS = "asyncio_default_fixture_loop_scope=function"
#: The variable that names the file of a run's results.
RESULTS = "PEERS_RESULTS"

SUITES = ("nbclient", "ipykernel", "ipython")

#: How a test ended, by its name: "passed", "failed" or "skipped".
Results = dict[str, str]


@dataclass(frozen=True)
class Comparison:
    """Names of tests by what their failing means."""

    only_with_us: list[str]
    flaky: list[str]
    plainly_too: list[str]


def worse(plain: Results, ours: Results) -> list[str]:
    """Return the tests that did not fail plainly, and ended otherwise with us, or did not end at all."""
    return sorted(name for name, ended in plain.items() if ended != "failed" and ours.get(name) != ended)


def compare(plain: Results, ours: Results, alone: Callable[[str, bool], str | None]) -> Comparison:
    """Compare a plain run with one with us; `alone` runs a test, with us or not, and returns how it ended."""
    plainly_too = {name for name, ended in plain.items() if ended == "failed"}
    plainly_too |= ours.keys() - plain.keys()  # there it did not even end
    only_with_us, flaky = [], []
    differing = worse(plain, ours)
    for name in differing:
        if len(differing) <= MOST_FLAKY and alone(name, True) == plain[name]:
            flaky.append(name)
        elif len(differing) <= MOST_FLAKY and alone(name, False) != plain[name]:
            plainly_too.add(name)
        else:
            only_with_us.append(name)
    return Comparison(only_with_us, flaky, sorted(plainly_too))


def pinned(package: str, text: str) -> str:
    """The lines of a list with hashes that pin a package."""
    found = re.search(rf"^{package}==(?:.*\\\n)+.*$", text, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{LIST.name} pins no {package}.")
    return found.group()


def fetch(suites: Iterable[str]) -> dict[str, Path]:
    """The suites' folders, each with the tests and their settings, and nothing of the package itself."""
    sources, wanted = WORK / "sources", WORK / "sources.txt"
    sources.mkdir(parents=True, exist_ok=True)
    text = LIST.read_text(encoding="utf-8")
    pins = {suite: pinned(suite, text) for suite in suites}
    versions = {package: pin.split()[0].partition("==")[2] for package, pin in pins.items()}
    archives = {name: sources / f"{name}-{version}.tar.gz" for name, version in versions.items()}
    missing = [name for name, archive in archives.items() if not archive.exists()]
    if missing:
        wanted.write_text("\n".join(pins[name] for name in missing) + "\n", encoding="utf-8")
        # What they are built with is in .venv, so nothing else is fetched to read their metadata.
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--require-hashes"]
        subprocess.run([*command, "--dest", str(sources), "--requirement", str(wanted)], check=True)
    return {name: unpack(archive) for name, archive in archives.items()}


def unpack(archive: Path) -> Path:
    """A source distribution less the package in it: that of the environment is tested."""
    name = archive.name.removesuffix(".tar.gz")
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    package = name.partition("-")[0]
    with tarfile.open(archive) as packed:
        for one in packed:
            held = packed.extractfile(one) if one.isfile() else None
            path = WORK / one.name
            if held is None or one.name.split("/")[1:2] in ([package], ["IPython"]):
                continue
            if ".." in path.parts or not path.is_relative_to(folder):
                raise SystemExit(f"{archive.name} holds {one.name}, which lies outside of it: not unpacked.")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(held.read())
    return folder


def load_us(wanted: bool) -> None:
    """Have every IPython of this environment load us from its next start on, or no more."""
    CONFIGURATION.unlink(missing_ok=True)
    if wanted:
        CONFIGURATION.parent.mkdir(parents=True, exist_ok=True)
        CONFIGURATION.write_text('c.InteractiveShellApp.extensions = ["jupyter_mlgpu"]\n', encoding="utf-8")


def loaded(environment: dict[str, str]) -> bool:
    """Return whether a kernel that starts now has loaded us, and traces."""
    asks = "print(getattr(getattr(get_ipython(), '_jupyter_mlgpu', None), 'cells', None) is not None)"
    code = (
        "from jupyter_client.manager import start_new_kernel\n"
        "manager, client = start_new_kernel(kernel_name='python3')\n"
        f"client.execute_interactive({asks!r}, timeout=60)\n"
        "client.stop_channels()\n"
        "manager.shutdown_kernel(now=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"No kernel starts here: {done.stderr}")
    return "True" in done.stdout


def host_environment() -> dict[str, str]:
    """The environment of a run: nothing of the user's own settings, and this environment's programs first."""
    home = WORK / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    mine = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER_MLGPU_")}
    return {
        **mine,
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        # Not all of tests/: the suites have a package of that name.
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests" / "peers"), str(ROOT / "scripts")]),
    }


def run(suite: str, folder: Path, title: str, *, with_us: bool, only: str = "tests") -> Results:
    """Run a suite, or one test of it; how each test ended."""
    environment = host_environment()
    load_us(with_us)
    try:
        if loaded(environment) != with_us:
            raise SystemExit(
                f"A kernel that should {'' if with_us else 'not '}load us {'did not' if with_us else 'did'}."
            )
        kept = WORK / f"{suite}-{title}.jsonl"
        kept.unlink(missing_ok=True)
        environment[RESULTS] = str(kept)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "peers", "-p", "no:nbval"]
        command += ["-p", "no:cacheprovider", f"--timeout={TEST_LIMIT}", "-o", LOOPS, only]
        with open(WORK / f"{suite}-{title}.txt", "w", encoding="utf-8") as told:
            try:
                subprocess.run(
                    command,
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=told,
                    stderr=subprocess.STDOUT,
                    timeout=LIMIT,
                )
            except subprocess.TimeoutExpired:
                told.write(f"\nstopped after {LIMIT} s\n")
    finally:
        load_us(False)
    return read(kept)


def pytest_runtest_logreport(report: Any) -> None:
    """Keep how a phase of a test ended, but for those that set up or clean up and pass."""
    if report.passed and report.when != "call":
        return
    with open(os.environ[RESULTS], "a", encoding="utf-8") as kept:
        kept.write(json.dumps({"name": report.nodeid, "ended": report.outcome}) + "\n")


def read(path: Path) -> Results:
    """Return what the plugin has kept; a test that fails in any of its phases has failed."""
    results: Results = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        one = json.loads(line)
        if results.get(one["name"]) != "failed":
            results[one["name"]] = one["ended"]
    return results


def again(suite: str, folder: Path, name: str, with_us: bool) -> str | None:
    """Run one test of a suite alone; how it ended, or None where it did not."""
    print(f"==> again, alone, {'with us' if with_us else 'plainly'}: {suite}: {name}", flush=True)
    title = f"again-{re.sub(r'[^A-Za-z0-9]+', '-', name)[-80:]}-{'with-us' if with_us else 'plain'}"
    return run(suite, folder, title, with_us=with_us, only=name).get(name)


def examine(suite: str, folder: Path) -> tuple[list[Results], Comparison]:
    """Run a suite both ways, and alone what differs; the two runs, and what came of all."""
    plain = run(suite, folder, "plain", with_us=False)
    if not any(ended == "passed" for ended in plain.values()):
        raise SystemExit(f"Nothing of {suite} passes plainly; see {WORK / suite}-plain.txt.")
    ours = run(suite, folder, "with-us", with_us=True)
    return [plain, ours], compare(plain, ours, functools.partial(again, suite, folder))


def summary(suite: str, runs: Sequence[Results], found: Comparison) -> str:
    """Counts of a suite, and the names of all tests that do not simply pass."""
    lines = []
    for title, results in zip(("plainly", "with us"), runs, strict=True):
        ended = Counter(results.values())
        told = ", ".join(f"{ended[how]:,} {how}" for how in ("passed", "failed", "skipped"))
        lines.append(f"{suite} {title}: {told}")
    lines.append(f"{suite} fails only with us: {len(found.only_with_us)}")
    lines += [f"  only with us: {name}" for name in found.only_with_us]
    lines += [f"  flaky: {name}" for name in found.flaky]
    lines += [f"  fails plainly, too: {name}" for name in found.plainly_too]
    return "\n".join(f"    {line}" for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Examine the suites; 1 where a test fails only with us."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", help="which suites; all without it")
    parser.add_argument("--report", help="the part's name in the summary of all parts")
    options = parser.parse_args(arguments)
    suites = [suite for suite in SUITES if not options.packages or suite in options.packages]
    begun = time.monotonic()
    folders = fetch(suites)
    failed: list[str] = []
    flaky: dict[str, list[str]] = {}
    passed = 0
    for suite in suites:
        runs, found = examine(suite, folders[suite])
        print(summary(suite, runs, found), flush=True)
        failed += [f"{suite}: {name}" for name in found.only_with_us]
        flaky |= {f"{suite}: {name}": [str(WORK / f"{suite}-with-us.txt"), str(WORK)] for name in found.flaky}
        passed += sum(ended == "passed" for ended in runs[1].values())
    if options.report:
        keep_report(options.report, time.monotonic() - begun, passed, failed, flaky, {})
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
