"""Models that make new examples."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(784, 64)
        self.mean, self.log_variance = nn.Linear(64, 8), nn.Linear(64, 8)
        self.decoder = nn.Sequential(nn.Linear(8, 64), nn.Softplus(), nn.Linear(64, 784), nn.Sigmoid())

    def forward(self, x):
        hidden = F.relu(self.inner(x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        made = self.decoder(mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance))
        return made, mean, log_variance


def vae():
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)

    def step(images):
        made, mean, log_variance = model(images)
        kl = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        loss = F.binary_cross_entropy(made, images, reduction="sum") + kl
        normal = torch.distributions.Normal(mean, torch.exp(0.5 * log_variance))
        loss = loss + torch.distributions.kl_divergence(normal, torch.distributions.Normal(0.0, 1.0)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step, torch.rand(16, 784)


def dcgan():
    generator = nn.Sequential(
        nn.ConvTranspose2d(16, 32, 4, 1, 0, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(True),
        nn.ConvTranspose2d(32, 16, 4, 2, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(True),
        nn.ConvTranspose2d(16, 1, 4, 2, 1, bias=False),
        nn.Tanh(),
    )
    critic = nn.Sequential(
        nn.Conv2d(1, 16, 4, 2, 1),
        nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(16, 32, 4, 2, 1),
        nn.BatchNorm2d(32),
        nn.LeakyReLU(0.2),
        nn.Conv2d(32, 1, 4),
        nn.Flatten(0),
    )
    makes = torch.optim.Adam(generator.parameters(), 2e-4, betas=(0.5, 0.999))
    judges = torch.optim.Adam(critic.parameters(), 2e-4, betas=(0.5, 0.999))
    loss_of = nn.BCEWithLogitsLoss()

    def step(real):
        noise = torch.randn(len(real), 16, 1, 1, device=real.device)
        fake = generator(noise)
        ones, zeros = torch.ones(len(real), device=real.device), torch.zeros(len(real), device=real.device)
        judges.zero_grad()
        (loss_of(critic(real), ones) + loss_of(critic(fake.detach()), zeros)).backward()
        judges.step()
        makes.zero_grad()
        loss_of(critic(fake), ones).backward()
        makes.step()

    return step, torch.rand(8, 1, 16, 16)


def wgan_gp():
    critic = nn.Sequential(nn.Linear(8, 32), nn.LeakyReLU(), nn.Linear(32, 1))

    def step(real, fake):
        mixed = torch.lerp(real, fake, torch.rand(len(real), 1)).requires_grad_()
        (slope,) = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
        penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
        (critic(fake).mean() - critic(real).mean() + 10 * penalty).backward()

    return step, torch.randn(16, 8), torch.randn(16, 8)


class Flow(nn.Module):
    """An affine coupling with an invertible linear map."""

    def __init__(self, size=6):
        super().__init__()
        self.mix = nn.Parameter(torch.linalg.qr(torch.randn(size, size, device="cpu"))[0].to(torch.ones(1)))
        self.net = nn.Sequential(nn.Linear(size // 2, 32), nn.Tanh(), nn.Linear(32, size))

    def forward(self, x):
        x = x @ self.mix
        volume = torch.linalg.slogdet(self.mix)[1] + torch.logdet(self.mix @ self.mix.T) / 2
        kept, changed = x.chunk(2, -1)
        scale, shift = self.net(kept).chunk(2, -1)
        return torch.cat([kept, changed * scale.tanh().exp() + shift], -1), volume + scale.tanh().sum(-1)


def normalizing_flow():
    layers = nn.ModuleList([Flow(), Flow()])
    optimizer = torch.optim.Adamax(layers.parameters())

    def step(x):
        base = torch.distributions.MultivariateNormal(torch.zeros(6), torch.eye(6))
        volume = 0
        for layer in layers:
            x, more = layer(x)
            volume = volume + more
        loss = -(base.log_prob(x) + volume).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step, torch.randn(32, 6)


class Denoiser(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.first, self.norm = nn.Conv2d(1, width, 3, padding=1), nn.GroupNorm(8, width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.last = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, x, when):
        rates = torch.exp(-math.log(10000) * torch.arange(self.width // 2) / (self.width // 2))
        angles = when[:, None].float() * rates[None]
        hidden = self.first(x) + self.time(torch.cat([angles.sin(), angles.cos()], -1))[:, :, None, None]
        hidden = F.silu(self.norm(hidden))
        flat = hidden.flatten(2).transpose(1, 2)
        flat = flat + self.attention(flat, flat, flat, need_weights=False)[0]
        return self.last(flat.transpose(1, 2).reshape_as(hidden))


def diffusion_step():
    model = Denoiser()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
    kept = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000), 0)
    averaged = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.999)
    )

    def step(images):
        when = torch.randint(0, 1000, (len(images),))
        noise = torch.randn_like(images)
        share = kept[when].view(-1, 1, 1, 1)
        loss = F.mse_loss(model(share.sqrt() * images + (1 - share).sqrt() * noise, when), noise)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        averaged.update_parameters(model)

    return step, torch.randn(4, 1, 16, 16)


def neural_ode():
    slope = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))

    def moved(state, when):
        return slope(torch.cat([state, when.expand(len(state), 1)], 1))

    def step(state, wanted):
        times = torch.linspace(0, 1, 6)
        for begin, end in pairwise(times):
            h = end - begin
            k1 = moved(state, begin)
            k2 = moved(state + h * k1 / 2, begin + h / 2)
            k3 = moved(state + h * k2 / 2, begin + h / 2)
            k4 = moved(state + h * k3, end)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        F.mse_loss(state, wanted).backward()

    return step, torch.randn(16, 2), torch.randn(16, 2)
