# Cells with NumPy and pandas: large and small arrays, data that are got ready, and arrays in loops of Python.

# %% array-element-by-element: before
import numpy as np
image = np.zeros((1_600, 1_600))
# %% array-element-by-element: asked
for row in range(image.shape[0]):
    for column in range(image.shape[1]):
        image[row, column] = (row * column) % 255
# %% array-element-by-element: mended
for _ in range(8):
    image = np.fromfunction(lambda row, column: (row * column) % 255, (1_600, 1_600))

# %% pandas-apply: before
import numpy as np, pandas as pd
frame = pd.DataFrame({"a": np.arange(150_000), "b": np.arange(150_000) % 7})
# %% pandas-apply: asked
frame['c'] = frame.apply(lambda row: row['a'] * 2 if row['b'] > 3 else row['a'], axis=1)
# %% pandas-apply: mended
a, b = frame["a"].to_numpy(), frame["b"].to_numpy()
for _ in range(1_600):
    frame["c"] = np.where(b > 3, a * 2.0, np.sqrt(a))

# %% pandas-rows: before
import pandas as pd
frame = pd.DataFrame({'x': range(40_000), 'y': range(40_000)})
# %% pandas-rows: asked
total = 0
for index, row in frame.iterrows():
    total += row["x"] * row["y"]

# %% numpy-products: before
import numpy as np
a = np.random.default_rng(0).random((1_500, 1_500)) / 750
# %% numpy-products: asked
b = a
for _ in range(10):
    b = np.matmul(b, a)
# %% numpy-products: mended
import time
b = np.matmul(a[:8], a)
time.sleep(0.5)

# %% numpy-singular-values: before
import numpy as np
a = np.random.default_rng(0).random((900, 900))
# %% numpy-singular-values: asked
for _ in range(4):
    u, s, v = np.linalg.svd(a)

# %% numpy-sums-of-large-arrays: before
import numpy as np
a = np.ones(25_000_000)
b = np.ones_like(a)
c = np.empty_like(a)
# %% numpy-sums-of-large-arrays: asked
for _ in range(20):
    np.add(a, b, out=c)
# %% numpy-sums-of-large-arrays: mended
total = 0
for number in range(12_000_000):
    total += number

# %% numpy-sort: before
import numpy as np
a = np.random.default_rng(0).random(15_000_000)
# %% numpy-sort: asked
b = np.sort(a)
c = np.sort(a[::-1])

# %% numpy-fourier: before
import numpy as np
a = np.random.default_rng(0).random(2**21)
# %% numpy-fourier: asked
for _ in range(10):
    b = np.fft.fft(a)

# %% numpy-tiny-vectors: before
import numpy as np
a, b = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.1, 0.2])
# %% numpy-tiny-vectors: asked
position = np.zeros(3)
for step in range(25_000):
    force = np.cross(a, b) * np.dot(a, b)
    position = np.add(position, force)
# %% numpy-tiny-vectors: mended
many, others = np.tile(a, (250_000, 1)), np.tile(b, (250_000, 1))
for _ in range(50):
    positions = np.cross(many, others) * (many * others).sum(axis=1)[:, None]

# %% csv-read-by-pandas: before
import tempfile
import numpy as np, pandas as pd
file = tempfile.NamedTemporaryFile(suffix=".csv")
table = np.random.default_rng(0).random((900_000, 6))
pd.DataFrame(table, columns=list("abcdef")).to_csv(file.name, index=False)
# %% csv-read-by-pandas: asked
frame = pd.read_csv(file.name)
means = frame.mean()
# %% csv-read-by-pandas: mended
for _ in range(4):
    means = np.sort(table, axis=0).mean(axis=0)

# %% images-decompressed-before-a-product: before
import zlib
import numpy as np
noise = np.random.default_rng(0).integers(0, 30, (256, 256, 3), dtype="uint8")
files = [zlib.compress(noise.tobytes())] * 700
weights = np.ones((256 * 256 * 3, 2), dtype="float32")

def load(file):
    pixels = np.frombuffer(zlib.decompress(file), dtype="uint8")
    return pixels.astype("float32") / 255
# %% images-decompressed-before-a-product: asked
scores = []
for file in files:
    image = load(file)
    scores.append(image @ weights)
# %% images-decompressed-before-a-product: before mended
images = np.stack([load(file) for file in files[:50]])
# %% images-decompressed-before-a-product: mended
for epoch in range(200):
    scores = images @ weights

# %% many-small-files: before
import tempfile
from pathlib import Path
import numpy as np
folder = tempfile.TemporaryDirectory()
paths = [Path(folder.name) / f"{number}.bin" for number in range(8_000)]
for path in paths:
    path.write_bytes(b"1" * 4_096)
# %% many-small-files: asked
sums = []
for epoch in range(4):
    for path in paths:
        sums.append(int(np.fromfile(path, dtype="uint8")[::64].sum()))
# %% many-small-files: before mended
everything = np.concatenate([np.fromfile(path, dtype='uint8') for path in paths])
# %% many-small-files: mended
for epoch in range(4):
    order = np.sort(everything)

# %% words-into-numbers: before
import re
import numpy as np
text = "The film isn't bad, but its second half (90 minutes!) drags on and on; 3 stars. "
reviews = [text * (1 + number % 5) for number in range(50_000)]
vocabulary = {}

def tokenize(review):
    words = re.findall(r"[a-z]+|[0-9]+|[^ ]", review.lower())
    return [vocabulary.setdefault(word, len(vocabulary)) for word in words]
# %% words-into-numbers: asked
batches = [tokenize(review) for review in reviews]
counts = np.bincount(np.concatenate([np.array(batch) for batch in batches[:200]]))

# %% busy-machine-numpy: before
import numpy as np
a = np.random.default_rng(0).random(6_000_000)
# %% busy-machine-numpy: asked
b = np.sort(a)
# %% busy-machine-numpy: mended
b = np.sort(a)
