"""Opens the database: SQLite in a file, or PostgreSQL by its URL."""

from __future__ import annotations

import os
from typing import Any

from sqlalchemy import Engine, create_engine, event, insert, select, text, update
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.teach.teacher.tables import FORM, FORMS, METADATA, UPGRADES

#: Seconds to wait for another holder of a lock. After that, the sender is told to try again.
LOCK_SECONDS = 2

_FORMS = "write sqlite:///FILE or postgresql://USER@HOST/NAME"


def open_database(url: str) -> Engine:
    """Return the engine of a database that has our tables; tables of an older version are upgraded.

    Raises UsageError if the URL cannot be opened, or if the tables are of a later version.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise UsageError(f"{url!r:.80} is not a database URL: {_FORMS}.") from error
    safe_url = parsed.render_as_string(hide_password=True)
    name = parsed.get_backend_name()
    if name not in ("sqlite", "postgresql"):
        raise UsageError(f"The database {safe_url} is neither SQLite nor PostgreSQL: {_FORMS}.")
    if name == "postgresql":
        require("PostgreSQL", "teacher", "psycopg")
    try:
        engine = _sqlite(parsed) if name == "sqlite" else _postgresql(parsed)
        form = _form(engine)
        if form == FORM:
            METADATA.create_all(engine)
    except (OSError, SQLAlchemyError) as error:
        why = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        raise UsageError(f"The database {safe_url} cannot be opened ({why}); {_FORMS}.") from error
    if form != FORM:
        engine.dispose()
        raise UsageError(
            f"The database {safe_url} has tables of form {form}, and this jupyter_mlgpu reads form {FORM}: "
            "install the jupyter_mlgpu that wrote it, or name a new database. Nothing was changed in it."
        )
    return engine


def _form(engine: Engine) -> int:
    """Return the version of the tables, after an upgrade of older ones; in a new database, store ours."""
    FORMS.create(engine, checkfirst=True)
    with engine.begin() as connection:
        form: int | None = connection.execute(select(FORMS.c.form)).scalar_one_or_none()
        if form is None:
            connection.execute(insert(FORMS).values(form=FORM))
            return FORM
        for later in range(form + 1, FORM + 1):
            connection.execute(text(UPGRADES[later]))
            connection.execute(update(FORMS).values(form=later))
    return max(form, FORM)


def _sqlite(url: URL) -> Engine:
    if not url.database or url.database == ":memory:":
        raise UsageError(f"The database has to outlive the service, but {url} names no file: {_FORMS}.")
    # Create the file before SQLite does with default permissions: only the service may read it.
    os.close(os.open(url.database, os.O_RDWR | os.O_CREAT, 0o600))
    engine = create_engine(url, connect_args={"timeout": LOCK_SECONDS})
    event.listen(engine, "connect", _set_up_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _: object) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")  # pages are read while a report is written
    cursor.execute("PRAGMA synchronous = FULL")  # a commit is on the disk when we confirm it
    cursor.execute("PRAGMA secure_delete = ON")  # deleted data is overwritten
    cursor.close()


def _postgresql(url: URL) -> Engine:
    # Time limits in milliseconds. TCP's is for a server that vanished during an answer.
    options = f"-c lock_timeout={LOCK_SECONDS * 1000} -c statement_timeout=10000"
    return create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,  # reconnects after a restart of the server
        pool_timeout=LOCK_SECONDS,
        connect_args={"connect_timeout": 5, "tcp_user_timeout": 10000, "options": options},
    )
