"""The check finds errors as small as docs/measurements/check.md says."""

import pytest

from tests.support import check_sensitivity as sensitivity

pytestmark = [pytest.mark.slow, pytest.mark.needs("torch")]

CASES = [(case, dtype) for case in sensitivity.CASES for dtype in sensitivity.TYPES]
#: The page rounds to one digit, and other processors round in other places.
ROUGHLY = 2.5


@pytest.mark.parametrize(
    ("case", "dtype"), CASES, ids=[f"{case.operation} {case.what} {dtype}" for case, dtype in CASES]
)
def test_an_error_of_this_size_is_found(case, dtype):
    documented = sensitivity.documented()[case.operation, case.what, dtype]
    found = sensitivity.smallest_error(case, dtype)
    assert (found is None) == (documented is None)
    if found is None:
        return
    assert found[0] <= ROUGHLY * documented[0]
    assert found[1] <= ROUGHLY * documented[1]
    if documented[0] < sensitivity.LARGEST:
        assert sensitivity.is_found(case, dtype, ROUGHLY * documented[0])


def test_an_error_far_below_the_page_is_not_planted_by_the_measurement_itself():
    case = next(one for one in sensitivity.CASES if one.operation == "aten.exp")
    assert not sensitivity.is_found(case, "float32", 0.0)
