"""Python's logging and warnings are heard, and nothing changes for the user."""

import io
import logging
import warnings

import pytest

from jupyter_mlgpu.measure.capture.hooks import PythonHooks


@pytest.fixture(autouse=True)
def shown(monkeypatch):
    """What would be shown of warnings; put back after the test."""
    warned = []
    monkeypatch.setattr(warnings, "showwarning", lambda *warning, **more: warned.append(warning))
    return warned


@pytest.fixture
def heard(shown):
    messages = []
    hooks = PythonHooks(lambda *message: messages.append(message))
    hooks.start()
    yield messages
    hooks.stop()


def test_a_record_is_heard_with_its_level_and_logger(heard):
    logging.getLogger("mine").warning("%d epochs left", 3)
    assert heard == [("logging", "WARNING:mine:3 epochs left", "WARNING", "mine")]


def test_a_record_below_the_loggers_level_is_not_heard(heard):
    logging.getLogger("mine").debug("detail")
    assert heard == []


def test_the_loggers_own_handlers_still_run(heard):
    shown = io.StringIO()
    logger = logging.getLogger("mine.handled")
    handler = logging.StreamHandler(shown)
    logger.addHandler(handler)
    logger.error("both")
    logger.removeHandler(handler)
    assert shown.getvalue() == "both\n"
    assert len(heard) == 1


def test_basic_config_still_works_as_if_we_were_not_there(heard):
    root = logging.getLogger()
    before = root.handlers[:]
    root.handlers[:] = []
    try:
        shown = io.StringIO()
        logging.basicConfig(stream=shown, format="%(message)s")
        logging.warning("configured")
        assert shown.getvalue() == "configured\n"
    finally:
        root.handlers[:] = before


def test_a_record_whose_arguments_do_not_fit_is_left_to_logging(heard, monkeypatch):
    monkeypatch.setattr(logging, "raiseExceptions", False)
    logger = logging.getLogger("mine.null")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    logger.warning("%d", "not a number")
    assert heard == []


def test_a_warning_that_is_shown_is_heard(heard, shown):
    warnings.showwarning("slow", UserWarning, "file.py", 3)
    assert len(shown) == 1
    assert heard == [("warnings", "file.py:3: UserWarning: slow\n", "WARNING", "UserWarning")]


def test_a_warning_that_a_test_catches_is_not_heard(heard):
    with pytest.warns(UserWarning, match="caught"):
        warnings.warn("caught", stacklevel=1)
    assert heard == []


def test_everything_is_put_back():
    before = (logging.Logger.callHandlers, warnings.showwarning)
    hooks = PythonHooks(lambda *message: None)
    hooks.start()
    assert logging.Logger.callHandlers is not before[0]
    hooks.stop()
    assert (logging.Logger.callHandlers, warnings.showwarning) == before


def test_what_somebody_wrapped_around_us_stays_and_we_fall_silent():
    messages = []
    hooks = PythonHooks(lambda *message: messages.append(message))
    hooks.start()
    ours = warnings.showwarning

    def theirs(*arguments, **options):
        ours(*arguments, **options)

    warnings.showwarning = theirs
    hooks.stop()
    assert warnings.showwarning is theirs
    warnings.showwarning("later", UserWarning, "file.py", 3)
    assert messages == []
