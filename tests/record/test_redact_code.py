"""Code is read as Python reads it: what it gives to a secret's name goes, what it gives to others stays."""

import sys
import threading
import unicodedata
import warnings

import pytest

from jupyter_mlgpu.record.redact import beginning, letters, redact
from jupyter_mlgpu.record.redact.parsed import given_strings
from jupyter_mlgpu.record.redact.statements import LONGEST, statements


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("é = 'ü'; password: str = 'tülip'; x = 'ö'", "é = 'ü'; password: str = <redacted>; x = 'ö'"),
        (
            "x = 1\r\npassword: str = (\r\n  'tül'\r\n  'ip')\r\ny = 'é'",
            "x = 1\r\npassword: str = (\r\n  <redacted>)\r\ny = 'é'",
        ),
        (
            "!ls it's\npassword: str = 'tulip'\n%matplotlib inline\nx = 1",
            "!ls it's\npassword: str = <redacted>\n%matplotlib inline\nx = 1",
        ),
        (
            "def f(user,\n      password: str = 'tulip',\n      *, n: int = 3):\n    return user",
            "def f(user,\n      password: str = <redacted>,\n      *, n: int = 3):\n    return user",
        ),
        ("    elif log(password=('tul' 'ip')):", "    elif log(password=(<redacted>)):"),
        ("@route(password='tul' 'ip')", "@route(password=<redacted>)"),
        (
            "class Lab: password: bytes = b'tulip'.encode()",
            "class Lab: password: bytes = <redacted>.encode()",
        ),
        ("if (password := 'tul' 'ip'):", "if (password := <redacted>):"),
        ("f({'password': 'tul' 'ip', 'n': 1})", "f({'password': <redacted>, 'n': 1})"),
        ("password += 'tulip'", "password += <redacted>"),
        ("d['password']: str = 'tulip'", "d['password']: str = <redacted>"),
        (
            "x = [  # token: str = 'abc12345'\n  1]; password: str = 'tulip'",
            "x = [  # token: str = <redacted>\n  1]; password: str = <redacted>",
        ),
        ("## password: str = 'tulip'", "## password: str = <redacted>"),
        ("print(\"don't\"); password: str = 'tulip'", 'print("don\'t"); password: str = <redacted>'),
        ("\0 password: str = 'tulip'", "\0 password: str = <redacted>"),
        ("\ud800 = 1; password: str = 'tulip'", "\\ud800 = 1; password: str = <redacted>"),
        ("password: str = x or 'tul", "password: str = x or <redacted>"),
        ("login(key\U0001d429='tulipmaple')", "login(key\U0001d429=<redacted>)"),
        ("password = str('tulip')", "password = str(<redacted>)"),
        ("passwords = ['tulip', 'rose']", "passwords = [<redacted>, <redacted>]"),
        ("password = f\"{'tulip'}\"", "password = <redacted>"),
        (
            "password = 'tulip' if user == 'ada' else ask('ada')",
            "password = <redacted> if user == 'ada' else ask('ada')",
        ),
        ("connect('db', 'ada', 'tulip', port=1)", "connect('db', <redacted>, <redacted>, port=1)"),
        ("x = lab.login(\n  'ada',\n  'tulip')", "x = lab.login(\n  <redacted>,\n  <redacted>)"),
        ("log('%s: password of %s', 'tulip', x)", "log('%s: password of %s', <redacted>, x)"),
    ],
)
def test_a_string_goes_and_its_neighbours_stay_where_they_are(text, clean):
    assert redact(text) == clean
    assert redact(clean) == clean


@pytest.mark.parametrize(
    "text",
    [
        "password: str",
        "password: str | None = None",
        "password: str = getpass('Password of the lab: ')",
        "password: Literal['tulip'] = entered",
        "token: str = 'hello'",
        "pad_token: str = '[PAD]'",
        "eos_token: Final = '<|endoftext|>'",
        "def f(user, password: str | None = None, key: str = 'abc', name: str = 'tulip7maple'):",
        "def f(token: str, other='tulip77', more: str = 'abc12345'):",
        "secret_name: str = 'tulip'",
        "tokens: list[str] = ['a1b2c3d4']",
        "token = f'{prefix}-{number:03d}'",
        "auth_token = f'Bearer {token}'",
        "for password in ['a', 'b']: pass",
        "password = os.path.join(home, 'lab.gpg')",
        "password = ask('Who are you?')[config['lab']]",
        "login('https://hub.example.org', user, password)",
        "get_credentials('lab')",
        "connect('clicked', 'save')",
        "log('%s of %s', 'high', 'loss')",
        "pngSignature: bytes = b'\\x89PNG\\r\\n\\x1a\\n'",
        "if '-----BEGIN RSA PRIVATE KEY-----' not in contents: raise ValueError(contents)",
        "check('-----BEGIN RSA PRIVATE KEY-----', 'certificate', Certificates)",
        "%env TOKENIZERS_PARALLELISM false",
        "%env HF_TOKEN_PATH /data/lab/token",
        "%env HF_TOKEN $token",
        "%env HF_TOKEN",
        "%env MAX_TOKEN 512",
        '!export HF_TOKEN="$(cat token.txt)"',
        "!export PATH='/usr/local/cuda 12/bin' SESSION=1",
    ],
)
def test_ordinary_code_stays_as_it_is(text):
    assert redact(text) == text


def test_the_first_line_of_a_long_one_is_redacted_before_it_is_cut():
    for limit in (40, 80, 160):
        for line in (
            f"def connect(user: str, password: str = 'hunter2 {'tulip' * 40}', port: int = 1): # {'x' * 300}",
            f"user, password = '{'a' * 90}', 'hunter2 {'tulip' * 60}'",
        ):
            shown = beginning(line, limit)
            assert "hunter2" not in shown
            assert "tulip" not in shown
            assert "…" in shown


@pytest.mark.parametrize(
    "hard",
    [
        "(" * 4000,
        "-" * 4000 + "1",
        "x" + ".a" * 2400,
        "not " * 1200 + "x",
        "[" * 150 + "]" * 150,
        "lambda:" * 700 + "1",
        "x" + "**x" * 1600,
        "x" + "[0]" * 1600,
        "x = " * 1200 + "1",
        "\0",
        "é" * 4000,
        "f(token=" * 150 + "'a'," * 900,
    ],
    ids=lambda hard: hard[:8],
)
def test_what_brings_a_parser_to_its_limits_is_redacted_nevertheless(hard):
    for text in (f"password: str = 'tulip'; {hard}", f"password: str = 'tulip'; {hard * 30}"):
        assert "tulip" not in redact(text)


def test_a_stack_that_is_almost_full_stops_no_redaction():
    def deeper(left):
        return deeper(left - 1) if left else redact("password: str = 'tulip'")

    redact("password: str = 'tulip'")
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    assert deeper(sys.getrecursionlimit() - depth - 60) == "password: str = <redacted>"


@pytest.mark.parametrize(
    "text",
    [
        r"password: str = '\d+\q{x}'",
        r"password: str = f'\{x}tulip'",
        r"password: bytes = b'\777tulip'",
        "password: str = 'tulip' if 1if x else 2",
        "password: str = 'tulip' if 0x1for x in y",
        "password: str = 'tulip' if x is 'a' else 'b'",
        "password: str = 'tulip'; assert (x, 'y')",
    ],
)
def test_what_python_would_warn_of_warns_nobody_and_is_redacted(text):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        clean = redact(text)
    assert seen == []
    assert "tulip" not in clean
    assert "<redacted>" in clean


def test_looking_through_code_leaves_the_filters_of_warnings_alone():
    filters, version = warnings.filters, list(warnings.filters)
    shown = warnings.showwarning
    threads = [
        threading.Thread(target=redact, args=(rf"password: str = '\d{number}'",)) for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings.filters is filters
    assert list(filters) == version
    assert warnings.showwarning is shown


def test_nothing_of_the_code_is_run():
    redact("password: str = print('run') or exec('raise SystemExit') or 'tulip'")


def test_many_values_are_hidden_whole():
    text = "token: str = 'hello'\n" * 2000 + "password: str = 'tulip'\nx = 1"
    assert "tulip" not in redact(text)


def test_the_code_that_the_parser_gets_has_each_character_in_its_place():
    text = "a = 'x\\ty' \\\n  b'\\'' # it's\nf(r'''\n\\d''', (\n  'z"
    for statement in statements(text):
        code = statement.without_escapes(text)
        assert len(code) == statement.end - statement.start
        for one in statement.literals:
            assert text[one.start : one.end].lstrip("rb")[0] == "'"


def test_a_statement_that_nobody_closes_ends():
    assert max(one.end - one.start for one in statements("(\n" * LONGEST)) < 2 * LONGEST


def test_a_cut_statement_is_parsed_with_what_it_lacks():
    [statement] = statements("f({'password': ['tul")
    assert statement.closing == "'\n]})"
    [given] = given_strings("f({'password': 'tul", "'\n})")
    assert (given.name, given.start, given.end) == ("password", 15, 19)


def test_every_letter_that_python_reads_as_a_plain_one_is_compared_as_that():
    every = map(chr, [*range(0x80, 0xD800), *range(0xE000, 0x110000)])
    for one in every:
        plain = unicodedata.normalize("NFKC", one)
        if plain.isascii() and plain.isidentifier() and ("a" + one).isidentifier():
            if len(plain) == 1:
                assert letters.lower(one) == plain.lower(), hex(ord(one))
            else:
                assert letters.may_move(one), hex(ord(one))
        assert letters.lower(one) == one.lower() or len(letters.lower(one)) == len(one)
