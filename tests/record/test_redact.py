"""What should not leave the machine is taken out; ordinary code stays as it is."""

import pytest

from jupyter_mlgpu.record.redact import beginning, people, redact


@pytest.fixture(autouse=True)
def a_user_named_ada(monkeypatch):
    monkeypatch.setenv("HOME", "/srv/people/adalovelace")
    monkeypatch.setenv("USER", "adalovelace")
    people.identity.cache_clear()
    yield
    people.identity.cache_clear()


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
    people.identity.cache_clear()
    assert redact("open('/data/x')") == "open('/data/x')"


def test_the_beginning_of_a_long_line_is_shown_redacted():
    line = f"login(token='hf_abcdefghijkl', name='adalovelace') # {'x' * 100_000}"
    assert beginning(line) == f"login(token='<redacted>', name='<user>') # {'x' * 36}…"


@pytest.mark.parametrize("at", range(150, 201))
@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("", "ghp_Qw3Er5Ty7Ui9Op1As3Df5Gh7Jk9Lz2Xc4Vb6", ""),
        ("", "AKIAQ3EGRZ7PMN5XWT2K", ""),
        ("password='", "Qw3Er5Ty7Ui9Op1As3Df5Gh7Jk9Lz2Xc4Vb6", "'"),
        ("db://carol:", "Qw3Er5Ty7Ui9Op1As3Df5Gh7Jk9Lz2Xc4Vb6", "@db.example.org/x"),
    ],
)
def test_a_secret_that_the_cut_halves_is_not_shown(at, before, secret, after):
    # What is redacted before it makes room for what stands at the cut.
    filling = f"x = '/home/{'carol' * 12}' ; password='{'hunter' * 20}'"[: at - 1].ljust(at - 1)
    shown = beginning(f"{filling} {before}{secret}{after} # {'y' * 300}")
    assert secret[4:10] not in shown
    assert "…" in shown


def test_a_profilers_file_names_no_machine_wherever_it_stands():
    assert redact("{'repository': '/tmp/jupyter_mlgpu-x1/plugins/profile/1/lab.xplane.pb'}") == (
        "{'repository': 'plugins/profile/1/machine.xplane.pb'}"
    )


def test_half_a_character_is_written_out_for_no_file_can_hold_it():
    assert redact("naïve \ud800 text") == "naïve \\ud800 text"
    assert redact("\ud83d\ude00") == "\\ud83d\\ude00"
