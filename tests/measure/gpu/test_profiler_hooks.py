"""A framework's profiler is noticed before it begins, whoever begins it, and nothing of ours stays behind."""

import pytest

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.profiler_hooks import ProfilerHooks


@pytest.fixture
def watch():
    watching = ProfilerHooks()
    yield watching
    watching.leave()


def test_without_a_framework_no_profiler_is_on(watch, monkeypatch):
    monkeypatch.setattr(registry, "imported_or_importing", list)
    assert not watch.is_on()
    watch.before(lambda: None)


@pytest.mark.needs("torch")
def test_pytorchs_profilers_are_noticed_before_they_begin(watch):
    import torch
    from torch.autograd import profiler as old
    from torch.profiler import ProfilerActivity, profile

    heard = []
    watch.before(lambda: heard.append(watch.is_on()))
    with profile(activities=[ProfilerActivity.CPU]):
        assert watch.is_on()
        torch.ones(1) + 1
    with old.profile():
        torch.ones(1) + 1
    assert heard
    assert not any(heard)
    assert not watch.is_on()


@pytest.mark.needs("torch")
def test_pytorchs_functions_are_its_own_again(watch):
    from torch.autograd import profiler

    before = profiler._prepare_profiler, profiler._enable_profiler
    watch.before(lambda: None)
    watch.before(lambda: None)
    assert (profiler._prepare_profiler, profiler._enable_profiler) != before
    watch.leave()
    assert (profiler._prepare_profiler, profiler._enable_profiler) == before


@pytest.mark.needs("jax")
def test_jaxs_profiler_is_noticed_before_it_begins(watch, tmp_path):
    import jax

    heard = []
    watch.before(lambda: heard.append(watch.is_on()))
    with jax.profiler.trace(str(tmp_path)):
        assert watch.is_on()
        jax.numpy.ones(1).block_until_ready()
    assert heard == [False]
    assert not watch.is_on()
