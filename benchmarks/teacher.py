"""Measure how long a student waits until the teacher's view has kept a report, with a class of 300 at once.

Every student sends a report of three cells each ten seconds for a minute, over loopback, each over a
connection of its own, to the service as a hub starts it; a fake answers in the hub's place. The service, the
fake and all students share this machine's processors. A time runs from before the connection to the whole
answer. At the end the service is killed as by `kill -9`, started again, and every acknowledged record is
looked for. Targets: 95 of 100 reports within 200 ms, and no record lost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.report import COUNT, MS, CannotMeasureError, Figure, Table, at_least_one
from benchmarks.statistics import exact, quantile
from jupyter_mlgpu.teach.sharing.report import SCHEMA, Report, SharedReading, SharedRecord, to_bytes
from jupyter_mlgpu.testing.hub import PREFIX, RunningService, StandInHub

PACKAGES = ("sqlalchemy",)
#: Seconds between two reports of a student, and the cells run in them.
EVERY = 10.0
RECORDS = 3
#: Seconds in which 95 of 100 reports are to be kept.
TARGET = 0.200
METHOD = "The interval is that of the 95th percentile, by order statistics in the normal approximation."


@dataclass(slots=True)
class Load:
    """What students have seen: seconds of each answer, ids acknowledged by student, and other answers."""

    times: list[float] = field(default_factory=list)
    acknowledged: dict[str, set[str]] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the class, the time and the database."""
    parser.add_argument("--students", type=at_least_one, default=300, metavar="N", help="default 300")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="default 60")
    parser.add_argument("--database", metavar="URL", help="an empty one; default: SQLite in a new folder")


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Let a class send, kill the service, and look for what it had acknowledged."""
    with tempfile.TemporaryDirectory() as folder:
        database = options.database or f"sqlite:///{folder}/kept.sqlite"
        with closing(StandInHub()) as hub:
            try:
                service = RunningService(hub, database, Path(folder))
            except RuntimeError as error:
                raise CannotMeasureError(str(error)) from error
            load = asyncio.run(send_reports(hub, service, options.students, options.seconds))
            service.kill()
            service.start()
            found = kept(database)
            service.stop()
    lost = sum(len(ids - found.get(name, set())) for name, ids in load.acknowledged.items())
    records = sum(len(ids) for ids in load.acknowledged.values())
    half, most = statistics.median(load.times), max(load.times)
    later, interval = quantile(load.times, 0.95)
    columns = {"ratio to the target": f"{later / TARGET:.2f}"}
    yield Table(
        f"Reports of {options.students} students in {options.seconds:.0f} s",
        [
            Figure("reports", len(load.times), exact(len(load.times)), COUNT),
            Figure("half within", half, exact(half), MS),
            Figure("95 of 100 within", later, interval, MS, TARGET, columns, {"times": load.times}),
            Figure("slowest", most, exact(most), MS),
            Figure("reports not taken", len(load.others), exact(len(load.others)), COUNT),
            Figure("records acknowledged", records, exact(records), COUNT),
            Figure("of them lost over kill -9 and restart", lost, exact(lost), COUNT, 0),
        ],
        sorted(set(load.others))[:3],
        METHOD,
    )


async def send_reports(hub: StandInHub, service: RunningService, students: int, seconds: float) -> Load:
    """Let all students send for `seconds`."""
    load = Load()
    end = time.monotonic() + seconds
    people = {f"student{at:03}": hub.person(f"student{at:03}") for at in range(students)}
    await asyncio.gather(*(student(service, name, token, end, load) for name, token in people.items()))
    return load


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
    """Return status and body of the answer, over a connection of its own."""
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
    """Return a cell as a traced training step leaves it."""
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


def kept(database: str) -> dict[str, set[str]]:
    """Return the ids of all records in the database, by student."""
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
