"""What the engine says of ordinary cells is not contradicted by a profile of them."""

from __future__ import annotations

import pytest

from tests.limits.ordinary import ORDINARY
from tests.limits.runners import ask_ordinary, runner_for

pytestmark = pytest.mark.kernel

CELLS = [pytest.param(one, id=one.id, marks=pytest.mark.needs(one.framework)) for one in ORDINARY]


@pytest.mark.slow
@pytest.mark.parametrize("ordinary", CELLS)
def test_no_answer_is_contradicted(ordinary, tmp_path):
    with runner_for(ordinary.framework, tmp_path) as runner:
        answer, against = ask_ordinary(runner, ordinary)
    print(answer)
    assert against is None
