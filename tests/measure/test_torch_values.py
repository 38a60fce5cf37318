"""The devices of real PyTorch tensors and modules, whatever they are; no code of a subclass runs."""

from __future__ import annotations

import warnings

import pytest

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device

pytestmark = [pytest.mark.needs("torch"), pytest.mark.small]


@pytest.fixture(scope="module")
def torch():
    import torch

    return torch


@pytest.fixture(scope="module")
def backend(torch):
    return registry.backend("torch")


def devices(backend, **values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {one.name: dict(one.parts) for one in backend.placed_values(values)}


def test_tensors_modules_and_what_plain_containers_hold(torch, backend):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    found = devices(backend, x=torch.ones(1), model=model, batches=[(torch.ones(1), 1)], n=3, f=print)
    assert found == {"x": {"cpu:0": 1}, "model": {"cpu:0": 7}, "batches": {"cpu:0": 1}}


def test_a_compiled_model_is_where_its_weights_are(torch, backend):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, of its compiler
        compiled = torch.compile(torch.nn.Linear(2, 2))
    assert devices(backend, model=compiled) == {"model": {"cpu:0": 2}}


def test_sparse_nested_quantised_and_meta_tensors(torch, backend):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, of prototypes
        nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
        sparse = torch.eye(3).to_sparse_csr()
        quantised = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8)
    found = devices(
        backend,
        coo=torch.eye(3).to_sparse(),
        csr=sparse,
        nested=nested,
        quantised=quantised,
        model=torch.nn.Linear(2, 2, device="meta"),
    )
    here = {"cpu:0": 1}
    assert found == {"coo": here, "csr": here, "nested": here, "quantised": here, "model": {"meta:0": 2}}


def test_a_model_whose_weights_are_not_made_yet_has_none(torch, backend):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own, of lazy modules
        lazy = torch.nn.LazyLinear(3)
    assert devices(backend, lazy=lazy) == {}


def test_no_code_of_a_tensors_or_a_modules_subclass_runs(torch, backend):
    class Loud(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *_):
            raise RuntimeError("touched")

        @property
        def device(self):
            raise RuntimeError("touched")

    class Model(torch.nn.Linear):
        pass

    def touched(self, name):
        raise RuntimeError("touched")

    loud, model = torch.ones(1).as_subclass(Loud), Model(1, 1, bias=False)
    Model.__getattr__ = Model.__getattribute__ = touched
    assert devices(backend, loud=loud, model=model) == {"model": {"cpu:0": 1}}


def test_a_model_left_on_the_cpu_is_named_where_there_is_a_gpu(torch, backend, monkeypatch):
    placed = backend.placed_values({"net": torch.nn.Linear(2, 2), "x": torch.ones(1)})
    assert backend.left_on_cpu_note(placed) is None
    gpu = Device("torch", "gpu:0", "metal", "mps")
    monkeypatch.setattr(backend, "devices", lambda: (Device("torch", "cpu:0", "cpu", "cpu"), gpu))
    note = backend.left_on_cpu_note(placed)
    assert "2 weights of `net`" in note
    assert "`net.to('mps')`" in note
    assert backend.left_on_cpu_note(backend.placed_values({"x": torch.ones(1)})) is None
