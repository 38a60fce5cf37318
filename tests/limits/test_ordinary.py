"""What the engine says of ordinary cells is not contradicted by a profile of them."""

from __future__ import annotations

import pytest

from tests.limits.ordinary import ORDINARY
from tests.limits.runners import ask_ordinary, runner_for

pytestmark = pytest.mark.kernel

#: TensorFlow is everywhere where there are kernels.
MARKS = {"tensorflow": (), "torch": pytest.mark.needs("torch")}
CELLS = [pytest.param(one, id=one.id, marks=MARKS[one.framework]) for one in ORDINARY]


@pytest.mark.slow
@pytest.mark.parametrize("ordinary", CELLS)
def test_no_answer_is_contradicted(ordinary, tmp_path):
    with runner_for(ordinary.framework, tmp_path) as runner:
        answer, profile, against = ask_ordinary(runner, ordinary)
    print(answer, profile)
    assert against is None
