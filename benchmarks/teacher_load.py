"""How long a student waits until the teacher's view has kept a report, with a class of 300 at once.

Every student sends a report each ten seconds, over loopback, each over a connection of its own, to the
service as a hub starts it; a stand-in answers in the hub's place. The service, the stand-in and all students
share this machine's processors. A time runs from before the connection to the whole answer.

At the end the service is killed as by `kill -9`, started again, and what it acknowledged is looked for.

Exit status 1: something acknowledged is lost, or the time that 95 of 100 keep is above its target beyond
doubt.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import machine, report
from jupyter_mlgpu.explain.statistics import Estimate
from jupyter_mlgpu.teach.sharing.report import SCHEMA, Report, SharedReading, SharedRecord, to_bytes
from jupyter_mlgpu.testing.hub import PREFIX, RunningService, StandInHub

STUDENTS = 300
EVERY = 10.0
SECONDS = 60.0
#: Cells that a student runs between two reports.
RECORDS = 3
#: Seconds in which 95 of 100 reports are to be kept.
TARGET = 0.200


@dataclass(slots=True)
class Load:
    """What was seen: seconds of each answer, ids acknowledged by student, and what else was answered."""

    times: list[float] = field(default_factory=list)
    acknowledged: dict[str, set[str]] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)


async def student(service: RunningService, name: str, token: str, end: float, load: Load) -> None:
    """Send a report each ten seconds until `end` (of the monotonic clock); what is refused is sent again."""
    run, number, waiting = uuid.uuid4().hex, 0, list[SharedRecord]()
    load.acknowledged[name] = set()
    await asyncio.sleep(random.random() * EVERY)
    while (begun := time.monotonic()) < end:
        for _ in range(RECORDS):
            number += 1
            waiting.append(record(run, number))
        body = to_bytes(Report(SCHEMA, "07_a_cnn", time.time(), tuple(waiting[:100]), ()))
        try:
            status, answer = await post(service, token, body)
        except OSError as error:
            load.others.append(str(error))
        else:
            load.times.append(time.monotonic() - begun)
            if status == 200:
                kept = set(json.loads(answer)["acknowledged"])
                load.acknowledged[name] |= kept
                waiting = [one for one in waiting if one.id not in kept]
            else:
                load.others.append(f"{status} {answer.decode()}")
        await asyncio.sleep(max(0.0, begun + EVERY - time.monotonic()))


async def post(service: RunningService, token: str, body: bytes) -> tuple[int, bytes]:
    """Status and body of the answer, over a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
    try:
        writer.write(
            f"POST {PREFIX}api/reports HTTP/1.1\r\nHost: service\r\nConnection: close\r\n"
            f"Authorization: token {token}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head, _, answer = (await reader.read()).partition(b"\r\n\r\n")
    finally:
        writer.close()
    return int(head.split(b" ", 2)[1]), answer


def record(run: str, number: int) -> SharedRecord:
    """A cell as a traced training step leaves it."""
    readings = (
        SharedReading("wall_time", 0.25, "s", "cell", "clock", 1),
        SharedReading("device_time", None, "s", "device", "none", 0),
        SharedReading("peak_memory_process", 2**30, "bytes", "process", "operating system", 25),
        SharedReading("peak_memory_allocator", 2**29, "bytes", "device", "allocator", 1),
        SharedReading("peak_memory_device", 2**31, "bytes", "device", "NVML", 25),
        SharedReading("energy", 12.5, "J", "device", "NVML", 25),
    )
    now = time.time()
    return SharedRecord(f"{run}-{number}", run, number, now, "ok", "tensorflow", "2.19.1", "cuda", readings)


def part(times: Sequence[float], share: float) -> tuple[float, Estimate | None]:
    """The time that a share of all keep, and the interval that holds it with a chance of about 95 %.

    Order statistics, as in `statistics.median_interval`: how many of n times lie below the true value is
    binomial, here in its normal approximation, n * share give or take 1.96 standard deviations.
    """
    ordered, middle = sorted(times), len(times) * share
    width = 1.96 * math.sqrt(middle * (1 - share))
    low, high = math.floor(middle - width) - 1, math.ceil(middle + width) - 1
    value = ordered[max(0, math.ceil(middle) - 1)]
    within = low >= 0 and high < len(ordered)
    return value, Estimate(value, ordered[low], ordered[high], 0.95) if within else None


def kept(database: str) -> dict[str, set[str]]:
    """The ids of all records in the database, by student."""
    from sqlalchemy import select

    from jupyter_mlgpu.teach.teacher.database import open_database
    from jupyter_mlgpu.teach.teacher.tables import RECORDS as TABLE

    found: dict[str, set[str]] = {}
    engine = open_database(database)
    with engine.connect() as connection:
        for name, one in connection.execute(select(TABLE.c.student, TABLE.c.id)):
            found.setdefault(name, set()).add(one)
    engine.dispose()
    return found


async def measure(hub: StandInHub, service: RunningService, students: int, seconds: float) -> Load:
    """Let a class send for some seconds."""
    load = Load()
    end = time.monotonic() + seconds
    people = {f"student{at:03}": hub.person(f"student{at:03}") for at in range(students)}
    await asyncio.gather(*(student(service, name, token, end, load) for name, token in people.items()))
    return load


def main() -> int:
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.teacher_load", description=__doc__)
    parser.add_argument("--students", type=int, default=STUDENTS, metavar="N")
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S")
    parser.add_argument("--database", metavar="URL", help="an empty one; default: SQLite in a new folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = arguments.database or f"sqlite:///{folder}/kept.sqlite"
        hub = StandInHub()
        service = RunningService(hub, database, Path(folder))
        print("; ".join(f"{name} {value}" for name, value in machine.describe(("sqlalchemy",)).items()))
        load = asyncio.run(measure(hub, service, arguments.students, arguments.seconds))
        print(f"load average at the end {machine.load()}")
        service.kill()
        service.start()
        found = kept(database)
        service.stop()
        hub.close()
    lost = sum(len(ids - found.get(name, set())) for name, ids in load.acknowledged.items())
    half, _ = part(load.times, 0.5)
    most, interval = part(load.times, 0.95)
    judged = report.verdict(interval, TARGET)
    print(f"{len(load.times):,} reports of {arguments.students} students in {arguments.seconds:.0f} s")
    print(f"half within {report.ms(half)}, the slowest {report.ms(max(load.times))}")
    print(f"95 of 100 within {report.ms(most)} ({report.interval(interval)}), ", end="")
    print(f"target {report.ms(TARGET)}: {judged}")
    print(f"not taken: {len(load.others)}{''.join(f'; {one}' for one in sorted(set(load.others))[:3])}")
    records = sum(len(ids) for ids in load.acknowledged.values())
    print(f"{records:,} records acknowledged, {lost:,} of them lost over kill -9 and restart")
    return 1 if lost or judged == "missed" else 0


if __name__ == "__main__":
    sys.exit(main())
