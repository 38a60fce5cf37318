"""Texts that patterns of redaction find hard, and how long redaction takes for them.

Each is a piece that is repeated: the beginning of a secret without its end, quotes that nobody closes,
blanks, letters of other scripts.
"""

from __future__ import annotations

import base64
import random
import time

from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.redact.published import PREFIXES, SERVICES


def _drawn(size: int) -> str:
    return base64.urlsafe_b64encode(random.Random(21).randbytes(size)).decode()


#: Pieces that are repeated, by name.
PIECES = {
    "base64url": _drawn(66_000),
    "base64url, assigned": f'data="{_drawn(66_000)}"\n',
    "base64, lines of 64": "".join(f"{_drawn(48)}\n" for _ in range(100)),
    "token-": "token-",
    "token=": "token=",
    "token=x,": "token=x,",
    "key: '": "key: '",
    'password="': 'password="',
    "password=\\'": "password=\\'",
    "secret ": "secret ",
    "api_key": "api_key",
    "--password ": "--password ",
    "--": "--",
    "a": "a",
    "a-": "a-",
    "=": "=",
    "://": "://",
    "://a:b@": "://a:b@",
    "://a:": "://a:",
    "@": "@",
    "eyJ": "eyJ",
    "eyJa.": "eyJa. ",
    "sk-": "sk-",
    "every prefix": " ".join(PREFIXES) + " ",
    "every service": "=".join(SERVICES) + "=",
    "every service, and a value": "=1a2b,".join(SERVICES) + "=1a2b,",
    "/home/": "/home/",
    "/home/a b ": "/home/a b ",
    "/scratch/a/": "/scratch/a/",
    "C:\\Users\\": "C:\\Users\\",
    "Bearer ": "Bearer ",
    "Authorization: ": "Authorization: ",
    "Cookie: a": "Cookie: a",
    "machine a login b ": "machine a login b ",
    "password is ": "password is ",
    "curl -u a ": "curl -u a ",
    "docker ": "docker login",
    "hf login -a ": "hf login -a ",
    "%login a ": "%login a ",
    "aws configure set ": "aws configure set secret_access_key ",
    "echo token ": "echo token ",
    "login('": "login('",
    "login('a'), a line each": "login('a')\n",
    "connect(": "connect(",
    "token=f(token=": "token=f(token=",
    "token=f(token= and strings, a line each": "token=f(" * 150 + "'a'," * 900 + "\n",
    "token %s": "token %s{",
    "'token %s' % 'a'": "'token %s' % 'a'\n",
    "quotes": "'\"`",
    "-----BEGIN ": "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----": "-----BEGIN PRIVATE KEY-----",
    "a private key without end": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\n-----END",
    "password: a[": "password: a[",
    "password: a = b ": "password: a = b ",
    "password: str = x, a line each": "password: str = 'x'\n",
    "password: str = a word, a line each": "token: str = 'hello'\n",
    "password=(": "password=(",
    "password=(, a line each": "password=(\n'",
    "password=f'": "password=f'{",
    "(, a line each": "(\n",
    "# password: '": "# password: '",
    "password = and three quotes": 'password = """\\',
    "backslashes in strings": "password = '\\\\\\'",
    "full-width letters": "\uff50\uff41\uff53\uff53: ",
    "%env TOKEN ": "%env TOKEN ",
    "export TOKEN=": 'export TOKEN="',
    "a private key far to the right": "-----BEGIN PRIVATE KEY-----" + " " * 100,
    ".xplane.pb": "/jupyter_mlgpu-a/b.xplane.pb",
    "blanks": " ",
    "tabs and lines": "\t\n",
    "backslashes": "\\",
    "NUL": "\0",
    "CJK": "显卡内存不足",
    "CJK, assigned": "密码\uff1a密码=",
    "combining accents": "e\u0301\u0300",
    "İ": "İ",
    "digits": "0123456789",
    "colours": "\x1b[32m",
}


def text_of(name: str, characters: int) -> str:
    """Return the piece repeated to so many characters."""
    piece = PIECES[name]
    return (piece * (characters // len(piece) + 1))[:characters]


def seconds(text: str, times: int = 3) -> float:
    """Return the processor seconds that redaction takes, the least of a few runs."""
    taken = []
    for _ in range(times):
        started = time.process_time()
        redact(text)
        taken.append(time.process_time() - started)
    return min(taken)
