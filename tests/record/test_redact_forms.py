"""A hundred forms of secrets, names and homes go; three thousand ordinary lines stay as they are."""

import json
import re
import socket
import tomllib
from pathlib import Path

import pytest
from tracked import tracked

from jupyter_mlgpu.record.redact import people, redact

DATA = Path(__file__).parents[1] / "data" / "secrets"
FORMS = tomllib.loads((DATA / "forms.toml").read_text(encoding="utf-8"))["form"]
ROOT = DATA.parents[2]
#: Lines that name somebody's home.
_HOME = re.compile(r"/(?:home|Users)/\w|/root/|[A-Z]:\\+Users|\.xplane\.pb")


def our_lines():
    """The first lines of the lessons' cells, messages of frameworks, and what training loops print."""
    for notebook in tracked(ROOT / "notebooks", "**/*.ipynb"):
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield "".join(cell["source"]).strip().partition("\n")[0]
    for file in tracked(ROOT / "jupyter_mlgpu" / "explain" / "logs" / "messages", "*/*.toml"):
        for example in tomllib.loads(file.read_text(encoding="utf-8"))["examples"]:
            yield from example.splitlines()
    yield from (ROOT / "tests" / "data" / "ordinary_lines.txt").read_text(encoding="utf-8").splitlines()


OURS = [line for line in dict.fromkeys(our_lines()) if line.strip() and not _HOME.search(line)]
#: And lines of code of the standard library and of packages whose licences allow quoting, which were read.
ORDINARY = [*OURS, *(DATA / "ordinary.txt").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(autouse=True)
def ada_on_lab7(monkeypatch):
    monkeypatch.setenv("HOME", "/srv/people/adalovelac\u00e9")
    monkeypatch.setenv("USER", "adalovelac\u00e9")
    monkeypatch.setattr(socket, "gethostname", lambda: "lab7-gpu.cs.example.org")
    people.identity.cache_clear()
    yield
    people.identity.cache_clear()


def words(secret):
    """The pieces by which somebody would know it again."""
    return [secret, *(word for word in re.split(r"[\W_]+", secret) if len(word) >= 4)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["name"])
def test_a_secret_goes_and_what_stands_around_it_stays(form):
    secret = "".join(form["secret"])
    clean = redact(form["text"].replace("@@", secret, 1))
    assert [word for word in words(secret) if word in clean] == []
    assert form.get("kept", "") in clean


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["name"])
def test_redacting_twice_changes_nothing_more(form):
    clean = redact(form["text"].replace("@@", "".join(form["secret"]), 1))
    assert redact(clean) == clean


def test_there_are_enough_forms_and_ordinary_lines():
    assert len(FORMS) >= 60
    assert len(set(ORDINARY)) >= 2000


def test_ordinary_first_lines_and_log_lines_stay_as_they_are():
    assert [(line, redact(line)) for line in ORDINARY if redact(line) != line] == []


@pytest.mark.parametrize("at", [0, 79, 199, 8191, 8192, 8193, 16380, 65530])
def test_a_secret_goes_wherever_it_stands_in_a_long_line(at):
    token = "ghp_" + "8Kd02LmQz5Xr7Tn1Vb3Yc6We9Uf4Sg0Hj2Pa"
    filling = ("step 17 of 20 " * 5000)[:at]
    line = f"{filling} {token} {filling} password='{token[4:]}x' {filling}"
    assert token[4:12] not in redact(line)
    assert token[-8:] not in redact(line)


@pytest.mark.parametrize("size", [200, 5_000, 100_000])
def test_a_secret_goes_to_its_end_however_long_it_is(size):
    secret = ("aB3-x_9Z" * size)[:size]
    for text in (
        f"eyJhbGciOi{secret}.{secret}",
        f"password = '{secret}'",
        f"Cookie: sid={secret}",
        f"sk-{secret}",
    ):
        assert "3-x_9" not in redact(text + " and on")
        assert redact(text + " and on").endswith((" and on", "<redacted>"))


@pytest.mark.parametrize(
    "command",
    [
        "!unzip -P {} data.zip",
        "subprocess.run(['unzip', '-P', '{}', 'a.zip'])",
        "!7z x -p{} a.7z",
        "!echo {} | sudo -S apt install x",
        "os.system('echo {} | sudo -S ls')",
        "!echo {} | docker login -u ada --password-stdin",
        "!echo {} | gh auth login --with-token",
        "!vault login -method=github {}",
        "!kaggle config set -n key -v {}",
        "!rclone config create s3 s3 secret_access_key {}",
        "!ldapsearch -x -w {} -b dc=x",
        "!sudo -S ls <<< {}",
        "!sudo -S ls <<< {} && date",
        "!docker login -u ada --password-stdin <<< {}",
        "!gh auth login --with-token <<< {}",
        "!echo {} | chpasswd",
        "!echo {} | gpg --passphrase-fd 0 -d a.gpg",
        "!gpg --passphrase-fd 0 -d f <<< {}",
        "!wandb login <<< {}",
        "!echo {} | wandb login",
        "!echo {} | huggingface-cli login",
        "!printf '%s' {} | sudo -S ls",
        "!sudo passwd ada <<< {}",
        "cur.execute(\"ALTER USER ada WITH PASSWORD '{}'\")",
        "CREATE USER ada IDENTIFIED BY '{}'",
        "!echo {} | passwd --stdin ada",
        "!echo {} | kinit ada",
        "!unrar x -p{} a.rar",
        "!ssh-keygen -f key -N {}",
        "!mongosh -u ada -p {} shop",
        "!cqlsh -u ada -p {}",
        "!sqlcmd -S host -U ada -P {}",
        "!htpasswd -b users ada {}",
        "!smbclient //host/share -U ada%{}",
        "!lftp -u ada,{} ftp.example.org",
        "!sqlplus ada/{}",
        "!npm config set //registry.example.org/:_authToken {}",
        "!poetry config pypi-token.pypi {}",
        "!conda token set {}",
    ],
)
def test_a_password_that_a_command_takes_or_is_handed_is_hidden(command):
    assert redact(command.format("Tr0ub4dorXq9")) == command.format("<redacted>")


@pytest.mark.parametrize("command", ["zf.setpassword(b'{}')", "!echo -e '{}\\n{}' | passwd root"])
def test_a_password_is_hidden_with_what_stands_close_to_it(command):
    assert "Tr0ub4dor" not in redact(command.replace("{}", "Tr0ub4dorXq9"))


@pytest.mark.parametrize(
    "line",
    [
        "!zip -r a.zip b",
        "!echo hello | sudo tee x",
        "echo done | cat",
        "vault login",
        "!sudo cat <<EOF",
        "!mongod -f mongo.conf",
        "!python train.py --max_new_tokens 256 --tokenizer gpt2 --tokenizer_name gpt2",
        "!python train.py --token_dim 64 --tokens_per_batch 4096 --token-dropout 0.1 --secret_layer 4",
        "ssh-keygen -t rsa -N ''",
        "!sudo tee /etc/hosts <<< '127.0.0.1 localhost'",
        "!gpg --passphrase-fd 0 -d f",
    ],
)
def test_commands_that_take_none_stay_as_they_are(line):
    assert redact(line) == line
