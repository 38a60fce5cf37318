"""Cells that are asleep, or wait for a disk, the network, a lock or another process."""

from __future__ import annotations

from tests.limits.program import Program

#: A server in this process whose thread sleeps before it answers.
SLOW_SERVER = """
    import http.server, threading, time

    class Slow(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            time.sleep(0.25)
            body = b"x" * 10_000
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_port
"""

PROGRAMS = (
    Program(
        id="sleep-in-a-loop",
        framework="python",
        kinds=("waiting",),
        why="The loop sleeps 50 ms twelve times; the sum between two sleeps takes a millisecond.",
        clock="idle",
        before=["import time"],
        code="""
            total = 0
            for step in range(12):
                total += sum(range(20_000))
                time.sleep(0.05)
        """,
        mended="""
            total = 0
            for step in range(1_500):
                total += sum(range(20_000))
        """,
        mended_kinds=("python",),
    ),
    Program(
        id="sleep-in-a-function-of-another-cell",
        framework="python",
        kinds=("waiting",),
        why="The function polls every 50 ms for what a timer does after a second.",
        clock="idle",
        before=[
            "import threading, time",
            """
            def wait_until_ready(event, poll=0.05):
                while not event.is_set():
                    time.sleep(poll)
            """,
        ],
        code="""
            ready = threading.Event()
            threading.Timer(1.0, ready.set).start()
            wait_until_ready(ready)
        """,
    ),
    Program(
        id="subprocess-that-sleeps",
        framework="python",
        kinds=("waiting",),
        why="The cell waits for another process, which sleeps for a second.",
        clock="idle",
        before=["import subprocess, sys"],
        code="""
            done = subprocess.run([sys.executable, "-c", "import time; time.sleep(1.0)"])
            print(done.returncode)
        """,
        mended="""
            text = ""
            for number in range(1_200_000):
                text = str(number) + text[:20]
        """,
        mended_kinds=("python",),
    ),
    Program(
        id="subprocess-that-computes",
        framework="python",
        kinds=("waiting",),
        why="Another process computes for a second, as git or a converter does; this one only waits for it.",
        clock="idle",
        before=["import subprocess, sys"],
        code="""
            program = "import time; end = time.time() + 1.0\\nwhile time.time() < end: sum(range(1000))"
            subprocess.run([sys.executable, "-c", program], check=True)
        """,
    ),
    Program(
        id="socket-of-a-slow-server",
        framework="python",
        kinds=("waiting",),
        why="Each answer comes 0.2 s after its question, from a thread that sleeps.",
        clock="idle",
        before=[
            """
            import socket, threading, time

            def serve(listening):
                connection, _ = listening.accept()
                while connection.recv(1):
                    time.sleep(0.2)
                    connection.sendall(b"pong")

            listening = socket.create_server(("127.0.0.1", 0))
            threading.Thread(target=serve, args=(listening,), daemon=True).start()
            client = socket.create_connection(listening.getsockname())
            """,
        ],
        code="""
            answers = []
            for question in range(5):
                client.sendall(b"?")
                answers.append(client.recv(4))
        """,
    ),
    Program(
        id="http-pages-one-by-one",
        framework="python",
        kinds=("waiting",),
        why="Each of four pages comes after 0.25 s, from a server thread that sleeps.",
        clock="idle",
        before=["import http.client", SLOW_SERVER],
        code="""
            sizes = []
            for page in range(4):
                connection = http.client.HTTPConnection("127.0.0.1", port)
                connection.request("GET", f"/page/{page}")
                sizes.append(len(connection.getresponse().read()))
                connection.close()
        """,
    ),
    Program(
        id="urlopen-in-threads",
        framework="python",
        kinds=("waiting",),
        why="Two threads fetch eight pages, 0.25 s each; the cell waits for both.",
        clock="idle",
        before=["import urllib.request\nfrom concurrent.futures import ThreadPoolExecutor", SLOW_SERVER],
        code="""
            def fetch(page):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}") as answer:
                    return len(answer.read())

            with ThreadPoolExecutor(2) as pool:
                sizes = list(pool.map(fetch, range(8)))
        """,
    ),
    Program(
        id="queue-of-a-slow-producer",
        framework="python",
        kinds=("waiting",),
        why="The producer's thread sleeps 60 ms before each of ten items.",
        clock="idle",
        before=["import queue, threading, time"],
        code="""
            items = queue.Queue()

            def produce():
                for number in range(10):
                    time.sleep(0.06)
                    items.put(number)
                items.put(None)

            threading.Thread(target=produce).start()
            squares = []
            while (item := items.get()) is not None:
                squares.append(item**2)
        """,
    ),
    Program(
        id="lock-that-another-thread-has",
        framework="python",
        kinds=("waiting",),
        why="A thread sleeps for a second while it has the lock.",
        clock="idle",
        before=["import threading, time"],
        code="""
            lock = threading.Lock()

            def hold():
                with lock:
                    time.sleep(1.0)

            threading.Thread(target=hold).start()
            time.sleep(0.01)
            with lock:
                result = sum(range(100_000))
        """,
        mended="""
            lock = threading.Lock()
            with lock:
                result = sum(range(40_000_000))
        """,
        mended_kinds=("python",),
    ),
    Program(
        id="asyncio-sleep-at-the-top",
        framework="python",
        kinds=("waiting",),
        why="The cell awaits 0.2 s five times; nothing else runs.",
        clock="idle",
        before=["import asyncio"],
        code="""
            for step in range(5):
                await asyncio.sleep(0.2)
        """,
        mended="""
            for step in range(5):
                await asyncio.sleep(0)
                total = sum(range(10_000_000))
        """,
        mended_kinds=("python",),
    ),
    Program(
        id="pool-of-processes",
        framework="python",
        kinds=("waiting",),
        why="Two other processes sleep and sum; this one waits for what they send back.",
        clock="idle",
        before=[
            """
            import multiprocessing, time

            def job(number):
                time.sleep(0.3)
                return sum(range(number))
            """,
        ],
        code="""
            with multiprocessing.get_context("fork").Pool(2) as pool:
                totals = pool.map(job, [100_000] * 6, chunksize=1)
        """,
    ),
    Program(
        id="fsync-after-each-checkpoint",
        framework="python",
        kinds=("waiting",),
        why="Each checkpoint is forced onto the disk before the next is written.",
        clock="idle",
        before=["import os, tempfile", "file = tempfile.TemporaryFile()\nweights = os.urandom(64_000)"],
        code="""
            for step in range(1_200):
                file.seek(0)
                file.write(weights)
                file.flush()
                os.fsync(file.fileno())
        """,
    ),
)
