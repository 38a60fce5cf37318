"""What is left out of a long cell is counted, and a loop leaves time for what follows it."""

import pytest

pytestmark = pytest.mark.needs("torch")


def test_after_its_time_nothing_is_checked_and_the_rest_is_counted():
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    with checking(budget=0.0) as checker:
        torch.ones(3).exp().sum()
    result = checker.result()
    assert (result.checked, result.left_out) == (0, 3)


def test_a_loop_leaves_time_for_what_follows_it(monkeypatch):
    import torch

    from jupyter_mlgpu.measure.checking import check_mode

    class Clock:
        """Each check takes half a second: two readings."""

        seconds = 0.0

        def perf_counter(self):
            self.seconds += 0.25
            return self.seconds

    monkeypatch.setattr(check_mode, "real_time", Clock())
    x = torch.ones(3)
    with check_mode.checking(budget=20) as checker:
        for _ in range(1000):
            x.exp()
        x.sin()
    result = checker.result()
    assert 3 <= result.checked < 100
    assert result.checked + result.left_out == 1001
    with check_mode.checking(budget=20) as checker:
        for _ in range(1000):
            x.exp()
        checked = checker.result().checked
        x.sin()
    assert checker.result().checked == checked + 1


def test_an_exception_of_the_users_passes_through():
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), checking():
        torch.ones(3, 4) @ torch.ones(3, 4)


def test_nothing_of_the_users_changes():
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    def run():
        torch.manual_seed(3)
        layer = torch.nn.Linear(5, 4)
        torch.nn.functional.dropout(layer(torch.rand(2, 5))).sum().backward()
        return [layer.weight.grad, torch.rand(3)]

    expected = run()
    with checking():
        found = run()
    assert all(map(torch.equal, expected, found))


def test_an_operation_whose_copies_would_not_fit_is_left_out_and_counted(monkeypatch):
    import torch

    from jupyter_mlgpu.measure.checking import memory
    from jupyter_mlgpu.measure.checking.check_mode import checking
    from jupyter_mlgpu.measure.probes.memory import Memory

    few = Memory(2**34, 2**34 - 2**26, 2**26)
    monkeypatch.setattr(memory, "machine", lambda: few)
    monkeypatch.setattr(memory, "container", lambda total: None)
    monkeypatch.setattr(memory, "FEW_ELEMENTS", 1000)
    with checking() as checker:
        x = torch.ones(2**20)
        y = torch.ones(1000)
        x.sum()
        y[:, None] * y
        y.sum()
    result = checker.result()
    assert (result.checked, result.left_out) == (3, 3)


def test_the_scores_of_attention_count():
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    q = torch.zeros(1, 1, 6000, 2)
    with checking() as checker:
        torch.nn.functional.scaled_dot_product_attention(q, q, q)
    result = checker.result()
    assert (result.checked, result.left_out) == (0, 1)
