"""Ways to train: optimizers, mixed precision, clipping, and weights that are computed."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

from tests.support.mps_models.attention import Encoder


def _net():
    return nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))


def _with(optimizer_of, after_backward=lambda model: None):
    model = _net()
    optimizer = optimizer_of(model.parameters())
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)

    def step(x, y):
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        after_backward(model)
        optimizer.step()
        schedule.step()

    return step, torch.randn(16, 8), torch.randn(16, 1)


def sgd_momentum():
    return _with(lambda weights: torch.optim.SGD(weights, 0.1, momentum=0.9, weight_decay=1e-4))


def adagrad():
    return _with(torch.optim.Adagrad)


def rmsprop():
    return _with(lambda weights: torch.optim.RMSprop(weights, centered=True, momentum=0.9))


def fused_adamw():
    return _with(lambda weights: torch.optim.AdamW(weights, fused=True))


def muon():
    model = nn.Linear(8, 8, bias=False)
    optimizer = torch.optim.Muon(model.parameters())

    def step(x):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step, torch.randn(16, 8)


def clipped_gradients():
    def clip(model):
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)

    return _with(lambda weights: torch.optim.NAdam(weights, foreach=True), clip)


def lbfgs():
    model = _net()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4, line_search_fn="strong_wolfe")

    def step(x, y):
        def closure():
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)

    return step, torch.randn(16, 8), torch.randn(16, 1)


def autocast_scaler():
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5))
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.amp.GradScaler("mps")

    def step(x, y):
        with torch.autocast("mps", dtype=torch.float16):
            loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()

    return step, torch.randn(8, 1, 8, 8), torch.randint(0, 5, (8,))


def autocast_transformer():
    model = Encoder()

    def step(words, classes):
        with torch.autocast("mps", dtype=torch.bfloat16):
            out = model(words)
            loss = F.cross_entropy(out, classes) + out.softmax(-1).log().mean() + out.exp().sum() * 0
        loss.backward()

    return step, torch.randint(0, 500, (8, 24)), torch.randint(0, 5, (8,))


def weight_norm():
    model = nn.Sequential(
        parametrizations.weight_norm(nn.Conv1d(2, 4, 3)),
        nn.Mish(),
        parametrizations.orthogonal(nn.Linear(6, 6)),
    )
    return model, torch.randn(4, 2, 8), torch.randn(4, 4, 6)


def spectral_norm():
    model = nn.Sequential(parametrizations.spectral_norm(nn.Linear(8, 16)), nn.PReLU(), nn.Linear(16, 1))
    return model, torch.randn(16, 8), torch.randn(16, 1)


def checkpointed():
    blocks = nn.ModuleList(nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.Dropout(0.1)) for _ in range(3))

    def step(x):
        for block in blocks:
            x = checkpoint(block, x, use_reentrant=False)
        x.square().mean().backward()

    return step, torch.randn(8, 16, requires_grad=True)


def averaged_weights():
    student, teacher = _net(), _net()

    def step(x):
        F.kl_div(
            F.log_softmax(student(x).expand(-1, 3), 1),
            F.softmax(teacher(x).expand(-1, 3), 1),
            reduction="batchmean",
        ).backward()
        with torch.no_grad():
            for mine, other in zip(teacher.parameters(), student.parameters(), strict=True):
                mine.mul_(0.99).add_(other, alpha=0.01)
            torch._foreach_lerp_(list(teacher.parameters()), list(student.parameters()), 0.1)

    return step, torch.randn(16, 8)
