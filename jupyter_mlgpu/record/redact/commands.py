"""Finds secrets in commands, by option or position: `mysql -p...`, `curl -u ada:...`, `hf login ...`.

A command may be a shell line, or a list of strings in code: `["mysql", "-p..."]`.
"""

from __future__ import annotations

import functools
import re

HIDDEN = "<redacted>"

# The separator of two words of a command, in a list of strings and in a line.
_NEXT = r"(?:['\"]\s{0,3},\s{0,3}[rbfu]?['\"])"
_GAP = rf"(?:\s|{_NEXT})"
#: Letters and digits mixed: this is not a word of a sentence.
_MIXED = r"(?=[^\s'\"]{0,40}\d)(?=[^\s'\"]{0,40}[A-Za-z])[^\s'\"]{6}"

# Characters that end a command, or begin a shell substitution.
_ENDS = r"'\"|;&<>$"

#: Commands that read a secret from a pipe: `echo ... | docker login --password-stdin`.
_READERS = (
    r"\|[^\n]{0,60}?(?:--password-stdin|sudo\s{1,3}-S|--with-token|--passphrase-fd|chpasswd|kinit|"
    r"\bpasswd\s|(?:wandb|huggingface-cli|hf)(?:\s{1,3}auth)?\s{1,3}login|databricks\s[^\n|]{0,30}--token)"
)
_FORMAT = rf"(?:{_GAP}(?:'[^'\n|]{{0,40}}%s[^'\n|]{{0,40}}'|\"[^\"\n|]{{0,40}}%s[^\"\n|]{{0,40}}\"))"
_PIPED = rf"(?:echo|printf)(?:{_GAP}-\w|{_FORMAT})?{_GAP}(?=[^\n|]{{1,200}}{_READERS})"

#: For each command: the word (in lower case) without which a text is not searched, the command's beginning,
#: and what precedes its secret.
COMMANDS = (
    ("login", rf"(?:docker|podman|az|helm|oc){_GAP}[^\n]{{0,40}}?login", rf"{_GAP}-p(?:[ =]{{1,3}}|{_NEXT})"),
    (
        "login",
        rf"(?:wandb|huggingface-cli|hf(?:{_GAP}auth)?){_GAP}login",
        rf"login(?:{_GAP}(?:-|https?:)[\w=:/.-]{{1,100}}+){{0,4}}{_GAP}(?=[\w-]{{0,40}}\d)",
    ),
    # The last word of a magic's line that is not an option.
    (
        "login",
        r"%{1,2}\w{0,20}login",
        r"login(?:\s\S{1,100}){0,4}?\s(?=\S{1,200}+(?:\s--?\w{1,30}){0,4}\s{0,8}$)",
    ),
    ("mysql", r"mysql\w{0,10}|mariadb", rf"{_GAP}-p"),
    ("sshpass", r"sshpass", rf"{_GAP}-p(?:{_NEXT}| ?)"),
    ("twine", r"twine", rf"{_GAP}-p{_GAP}"),
    (
        "curl",
        r"curl",
        rf"{_GAP}(?:-u|--user|--proxy-user)(?:{_NEXT}|[ =]{{0,3}})['\"]?[^\s:'\"]{{0,100}}:",
    ),
    ("-a", r"redis-cli|https?", rf"{_GAP}(?:-a|--auth){_GAP}"),
    ("authtoken", r"ngrok", rf"authtoken{_GAP}"),
    (
        "configure",
        rf"aws{_GAP}configure{_GAP}set",
        rf"{_GAP}[\w.]{{0,60}}(?:secret_access_key|session_token){_GAP}",
    ),
    ("zip", r"unzip|zip", rf"{_GAP}-P{_GAP}"),
    ("7z", r"7z[arz]?", rf"{_GAP}-p"),
    ("ldap", r"ldap\w{3,10}", rf"{_GAP}-w{_GAP}"),
    ("vault", rf"vault{_GAP}login", rf"login(?:{_GAP}-[\w=-]{{1,60}}){{0,3}}{_GAP}"),
    ("kaggle", rf"kaggle{_GAP}config", rf"{_GAP}key{_GAP}-v{_GAP}"),
    ("rclone", r"rclone", rf"{_GAP}(?:secret_access_key|pass|token){_GAP}"),
    ("password-stdin", r"echo|printf", _PIPED),
    ("sudo", r"echo|printf", _PIPED),
    ("with-token", r"echo|printf", _PIPED),
    ("passphrase-fd", r"echo|printf", _PIPED),
    ("passwd", r"echo|printf", _PIPED),
    ("kinit", r"echo|printf", _PIPED),
    ("login", r"echo|printf", _PIPED),
    ("databricks", r"echo|printf", _PIPED),
    (
        "<<<",
        r"sudo|docker|podman|helm|gh|wandb|huggingface-cli|hf|kinit|chpasswd|passwd|gpg",
        r"(?:\s-S|--password-stdin|--with-token|--passphrase-fd|login|kinit|chpasswd|passwd)\b"
        r"[^\n<]{0,60}<<<\s{0,3}",
    ),
    ("rar", r"unrar|rar", rf"{_GAP}-p"),
    ("ssh-keygen", r"ssh-keygen", rf"{_GAP}-[NP]{_GAP}"),
    ("mongo", r"mongo\w{0,8}", rf"{_GAP}-p{_GAP}"),
    ("cqlsh", r"cqlsh", rf"{_GAP}-p{_GAP}"),
    ("beeline", r"beeline", rf"{_GAP}-p{_GAP}"),
    ("sqlcmd", r"sqlcmd", rf"{_GAP}-P{_GAP}"),
    (
        "htpasswd",
        r"htpasswd",
        rf"{_GAP}-\w{{0,3}}b\w{{0,3}}{_GAP}[^\s'\"]{{1,100}}{_GAP}[^\s'\"]{{1,60}}{_GAP}",
    ),
    ("smb", r"smb\w{3,10}", rf"{_GAP}-U{_GAP}?[^\s%'\"]{{1,60}}%"),
    ("lftp", r"lftp", rf"{_GAP}-u{_GAP}[^\s,'\"]{{1,60}},"),
    ("sqlplus", r"sqlplus", rf"{_GAP}\w{{1,40}}/"),
    ("_authtoken", r"npm|yarn|pnpm", rf"_authToken{_GAP}"),
    ("pypi-token", r"poetry", rf"pypi-token\.[\w-]{{1,40}}{_GAP}"),
    ("conda", rf"conda{_GAP}token", rf"set{_GAP}"),
    ("openssl", r"openssl", rf"{_GAP}(?:-[kK]{_GAP}|-pass(?:in|out)?{_GAP}pass:)"),
    (
        "echo",
        r"echo|printf",
        rf"(?i:passw(?:or)?d|passphrase|secret|token|api[ _-]?key)\b(?=[^\n\d{_ENDS}]{{0,80}}+\d)"
        rf"[^\n{_ENDS}]{{0,24}}?[\s:=](?={_MIXED})",
    ),
)


def hide(text: str, lower: str) -> str:
    """Return the text with the secrets of commands hidden. `lower` is the text in lower case."""
    for word, command, option in COMMANDS:
        if word in lower:
            text = _line(command).sub(functools.partial(_without_secrets, option), text)
    return text


def _without_secrets(option: str, line: re.Match[str]) -> str:
    return _secret(option).sub(rf"\1{HIDDEN}", line[0])


@functools.cache
def _line(command: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.])(?:{command})(?={_GAP})[^\n]*")


@functools.cache
def _secret(option: str) -> re.Pattern[str]:
    # A quote before a comma or a bracket closes the option itself: ["mysql", "-p", database].
    return re.compile(
        rf"({option})(?!\d[\d.:]{{0,20}}(?:\s|$))(?!['\"]\s{{0,3}}[,+)\]])"
        r"(?:'[^'\n]+'?|\"[^\"\n]+\"?|(?![-<${'\"])[^\s'\"]+)"
    )
