"""Wait for a state, never for a time."""

import time


def until(condition, what="it did not happen"):
    """What `condition` answers once that is true; fails after 20 seconds."""
    deadline = time.monotonic() + 20
    while not (answer := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
    return answer
