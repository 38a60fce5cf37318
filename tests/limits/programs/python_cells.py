# Cells of plain Python: they wait, or run Python itself on one core.

# %% sleep-in-a-loop: before
import time
# %% sleep-in-a-loop: asked
total = 0
for step in range(12):
    total += sum(range(20_000))
    time.sleep(0.05)
# %% sleep-in-a-loop: mended
total = 0
for step in range(1_500):
    total += sum(range(20_000))

# %% sleep-in-a-function-of-another-cell: before
import threading, time
# %% sleep-in-a-function-of-another-cell: before
def wait_until_ready(event, poll=0.05):
    while not event.is_set():
        time.sleep(poll)
# %% sleep-in-a-function-of-another-cell: asked
ready = threading.Event()
threading.Timer(1.0, ready.set).start()
wait_until_ready(ready)

# %% subprocess-that-sleeps: before
import subprocess, sys
# %% subprocess-that-sleeps: asked
done = subprocess.run([sys.executable, "-c", "import time; time.sleep(1.0)"])
print(done.returncode)
# %% subprocess-that-sleeps: mended
text = ""
for number in range(1_200_000):
    text = str(number) + text[:20]

# %% subprocess-that-computes: before
import subprocess, sys
# %% subprocess-that-computes: asked
program = "import time; end = time.time() + 1.0\nwhile time.time() < end: sum(range(1000))"
subprocess.run([sys.executable, "-c", program], check=True)

# %% socket-of-a-slow-server: before
import socket, threading, time

def serve(listening):
    connection, _ = listening.accept()
    while connection.recv(1):
        time.sleep(0.2)
        connection.sendall(b"pong")

listening = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listening,), daemon=True).start()
client = socket.create_connection(listening.getsockname())
# %% socket-of-a-slow-server: asked
answers = []
for question in range(5):
    client.sendall(b"?")
    answers.append(client.recv(4))

# %% SLOW_SERVER
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

# %% http-pages-one-by-one: before
import http.client
# %% http-pages-one-by-one: SLOW_SERVER, asked
sizes = []
for page in range(4):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", f"/page/{page}")
    sizes.append(len(connection.getresponse().read()))
    connection.close()

# %% urlopen-in-threads: before
import urllib.request
from concurrent.futures import ThreadPoolExecutor
# %% urlopen-in-threads: SLOW_SERVER, asked
def fetch(page):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}") as answer:
        return len(answer.read())

with ThreadPoolExecutor(2) as pool:
    sizes = list(pool.map(fetch, range(8)))

# %% queue-of-a-slow-producer: before
import queue, threading, time
# %% queue-of-a-slow-producer: asked
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

# %% lock-that-another-thread-has: before
import threading, time
# %% lock-that-another-thread-has: asked
lock = threading.Lock()

def hold():
    with lock:
        time.sleep(1.0)

threading.Thread(target=hold).start()
time.sleep(0.01)
with lock:
    result = sum(range(100_000))
# %% lock-that-another-thread-has: mended
lock = threading.Lock()
with lock:
    result = sum(range(40_000_000))

# %% asyncio-sleep-at-the-top: before
import asyncio
# %% asyncio-sleep-at-the-top: asked
for step in range(5):
    await asyncio.sleep(0.2)
# %% asyncio-sleep-at-the-top: mended
for step in range(5):
    await asyncio.sleep(0)
    total = sum(range(10_000_000))

# %% pool-of-processes: before
import multiprocessing, time

def job(number):
    time.sleep(0.3)
    return sum(range(number))
# %% pool-of-processes: asked
with multiprocessing.get_context("fork").Pool(2) as pool:
    totals = pool.map(job, [100_000] * 6, chunksize=1)

# %% fsync-after-each-checkpoint: before
import os, tempfile
# %% fsync-after-each-checkpoint: before
file = tempfile.TemporaryFile()
weights = os.urandom(64_000)
# %% fsync-after-each-checkpoint: asked
for step in range(1_200):
    file.seek(0)
    file.write(weights)
    file.flush()
    os.fsync(file.fileno())

# %% nested-loops: asked
count = 0
for i in range(2_500):
    for j in range(2_500):
        if (i * j) % 7 == 3:
            count += 1
# %% nested-loops: mended
import numpy as np
i = np.arange(4_000)
count = int(((i[:, None] * i[None, :]) % 7 == 3).sum())

# %% sum-of-a-range: asked
total = sum(range(60_000_000))
# %% sum-of-a-range: mended
import time
total = 60_000_000 * (60_000_000 - 1) // 2
time.sleep(1)

# %% sorted-by-a-key: before
import random
random.seed(0)
words = [str(random.random()) for _ in range(700_000)]
# %% sorted-by-a-key: asked
ordered = sorted(words, key=lambda word: (word[5:], len(word)))

# %% recursion: before
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
# %% recursion: asked
print(fib(33))
# %% recursion: mended
import time
time.sleep(0.6)
print(3524578)

# %% dict-of-counts: asked
counts = {}
for number in range(4_000_000):
    key = number % 1013
    counts[key] = counts.get(key, 0) + 1
# %% dict-of-counts: mended
import numpy as np
counts = np.bincount(np.arange(25_000_000) % 1013)

# %% list-of-dicts-and-their-cycles: before
import gc

class Node:
    def __init__(self, parent):
        self.parent = parent
        self.children = [self]
# %% list-of-dicts-and-their-cycles: asked
root = None
for round in range(8):
    nodes = []
    for number in range(80_000):
        nodes.append(Node(nodes[-1] if nodes else None))
    gc.collect()

# %% class-of-a-simulation: before
class Particle:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def step(self, dt):
        self.v -= 9.81 * dt
        self.x += self.v * dt
        if self.x < 0:
            self.x, self.v = -self.x, -0.9 * self.v
# %% class-of-a-simulation: asked
particles = [Particle(float(height), 0.0) for height in range(50)]
for step in range(100_000):
    for particle in particles:
        particle.step(1e-3)
# %% class-of-a-simulation: mended
import numpy as np
x, v = np.linspace(0, 50, 2_000_000), np.zeros(2_000_000)
for step in range(150):
    v -= 9.81e-3
    x += v * 1e-3
    v = np.where(x < 0, -0.9 * v, v)
    x = np.abs(x)

# %% list-comprehensions: before
import random
random.seed(0)
n = 200
A = [[random.random() for _ in range(n)] for _ in range(n)]
B = [[random.random() for _ in range(n)] for _ in range(n)]
# %% list-comprehensions: asked
C = [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]
# %% list-comprehensions: mended
import numpy as np
A, B = np.tile(A, (10, 10)), np.tile(B, (10, 10))
for _ in range(5):
    C = A @ B

# %% chain-of-generators: before
def numbers(n):
    for i in range(n):
        yield i

def squares(source):
    for i in source:
        yield i * i

def odd(source):
    for i in source:
        if i % 2:
            yield i
# %% chain-of-generators: asked
total = sum(odd(squares(numbers(7_000_000))))
# %% chain-of-generators: mended
import numpy as np
total = int((np.arange(60_000_000) ** 2)[1::2].sum())

# %% string-by-letters: asked
def backwards(length):
    text = ""
    for number in range(length):
        text += chr(97 + number % 26)
    result = ""
    for letter in reversed(text):
        result += letter
    return result

vowels = sum(letter in "aeiou" for letter in backwards(3_500_000))

# %% regex-that-goes-back: before
import re
# %% regex-that-goes-back: asked
pattern = re.compile(r"(a+)+$")
print(pattern.match("a" * 24 + "b"))

# %% json-of-results: before
import json
# %% json-of-results: before
results = [{'epoch': i, 'loss': 1 / (i + 1), 'tags': ['a', 'b']} for i in range(200_000)]
# %% json-of-results: asked
text = json.dumps(results, indent=2)
print(len(text))

# %% fractions: before
from fractions import Fraction
# %% fractions: asked
total = Fraction(0)
for number in range(1, 250_000):
    total = total % 1 + Fraction(1, number % 97 + 1)

# %% busy-machine-loop: asked
total = 0
for number in range(4_000_000):
    total += number % 7
# %% busy-machine-loop: mended
total = 0
for number in range(4_000_000):
    total += number % 7

# %% busy-machine-objects: before
class Point:
    def __init__(self, x):
        self.x = x
# %% busy-machine-objects: asked
points = [Point(number) for number in range(1_500_000)]
