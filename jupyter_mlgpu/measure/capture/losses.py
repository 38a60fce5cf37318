"""Sentences for the record about native lines that may be missing from it."""

from __future__ import annotations

from jupyter_mlgpu.record.sentence import Sentence, say

NOT_STORED = say(
    "There is no room to store native lines, so they are shown but not kept: make room (disk, memory, or the "
    "file size limit), then run `%mlc_trace off` and `%mlc_trace on`."
)
STREAM_CLOSED = say(
    "The code that ran closed sys.stdout or sys.stderr, so native lines are no longer captured."
)
NOT_IN_TIME = say(
    "Native lines could not be read in time: some of them may be shown late, or with another cell."
)
READER_ENDED = say("The process that reads native lines was ended; some lines may be missing.")
READER_WAS_STUCK = say(
    "The process that reads native lines answered nothing for two seconds, so it was ended; up to 64 kB of "
    "them may be missing."
)


def leads_elsewhere(descriptor: int, stream: str) -> Sentence:
    """Return the sentence for a descriptor that is not our pipe any more."""
    return say(
        "The code that ran closed or redirected file descriptor {number} ({stream}); native lines written to "
        "it are not captured until tracing is turned off and on again.",
        number=descriptor,
        stream=stream,
    )


def not_read(error: Exception) -> Sentence:
    """Return the sentence for native lines that belong to no cell because no process can read them."""
    return say(
        "Native lines are shown but not kept with their cells: no process could be started to read them "
        "({error}).",
        error=error,
    )


def not_read_on(error: Exception) -> Sentence:
    """Return the sentence for a reader of the lines that has failed."""
    return say("Reading native lines failed ({type}: {error}).", type=type(error).__name__, error=error)


def not_passed_on(error: Exception) -> Sentence:
    """Return the sentence for a failure in the thread that passes native lines on."""
    return say("Watching native lines failed ({type}: {error}).", type=type(error).__name__, error=error)
