"""What should not leave the machine is taken out; ordinary code stays as it is."""

import pytest

from jupyter_mlgpu import redact as module
from jupyter_mlgpu.redact import redact


@pytest.fixture(autouse=True)
def a_user_named_ada(monkeypatch):
    monkeypatch.setenv("HOME", "/srv/people/adalovelace")
    monkeypatch.setenv("USER", "adalovelace")
    module._identity.cache_clear()
    yield
    module._identity.cache_clear()


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("open('/srv/people/adalovelace/x.csv')", "open('~/x.csv')"),
        ("open('/home/bob/x.csv')", "open('~/x.csv')"),
        ("open('/Users/carol/x.csv')", "open('~/x.csv')"),
        (r"open('C:\Users\dave\x.csv')", r"open('~\x.csv')"),
        ("greet('adalovelace')", "greet('<user>')"),
        ("token = 'abc123'", "token = <redacted>"),
        ("HF_TOKEN: abc123", "HF_TOKEN: <redacted>"),
        ("tokens_secret = 'abc123'", "tokens_secret = <redacted>"),
        ("login(password='hunter2', name='x')", "login(password=<redacted>, name='x')"),
        ("os.environ['WANDB_API_KEY'] = 'f00'", "os.environ['WANDB_API_KEY'] = <redacted>"),
        ("f('hf_abcdefghijkl')", "f('<redacted>')"),
        ("f('ghp_abcdefghijkl')", "f('<redacted>')"),
        ("f('sk-proj-abcdefghijkl')", "f('<redacted>')"),
        ("Authorization: Bearer abcdefghijkl", "Authorization: Bearer <redacted>"),
        ("git clone https://me:pass@example.org/x", "git clone https://<redacted>@example.org/x"),
        (
            "repository: /tmp/jupyter_mlgpu-x1/plugins/profile/2026_11_21/adas-laptop.local.xplane.pb",
            "repository: plugins/profile/2026_11_21/machine.xplane.pb",
        ),
        ("logs/adas-laptop.xplane.pb and 2", "logs/machine.xplane.pb and 2"),
    ],
)
def test_homes_names_and_secrets_are_taken_out(text, clean):
    assert redact(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "model.fit(x, y, epochs=3)",
        "tokenizer(text)",
        "x = tokens[0]",
        "tokens = [3, 1, 2]",
        "tokenizer = wordpieces.train_tokenizer(reading)",
        "tokenizer: Tokenizer = load()",
        "tokenised = 1",
        "for token in tokens:",
        "import tensorflow as tf",
        "path = '/data/mnist'",
        "a = b / c",
    ],
)
def test_ordinary_code_stays_as_it_is(text):
    assert redact(text) == text


def test_a_home_that_is_the_root_folder_does_not_swallow_every_path(monkeypatch):
    monkeypatch.setenv("HOME", "/")
    module._identity.cache_clear()
    assert redact("open('/data/x')") == "open('/data/x')"
