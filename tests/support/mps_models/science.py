"""Models from science, statistics and reinforcement learning."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn


def gaussian_process():
    length, noise = torch.zeros(1, requires_grad=True), torch.full((1,), -2.0, requires_grad=True)
    optimizer = torch.optim.Adam([length, noise], 0.1)

    def step(x, y, new):
        def kernel(a, b):
            return torch.exp(-0.5 * torch.cdist(a / length.exp(), b / length.exp()) ** 2)

        matrix = kernel(x, x) + noise.exp() * torch.eye(len(x))
        lower = torch.linalg.cholesky(matrix)
        alpha = torch.cholesky_solve(y[:, None], lower)
        loss = 0.5 * (y @ alpha)[0] + lower.diagonal().log().sum() + len(x) / 2 * math.log(2 * math.pi)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            across = kernel(x, new)
            spread = torch.linalg.solve_triangular(lower, across, upper=False)
            return across.T @ alpha, kernel(new, new) - spread.T @ spread

    return step, torch.randn(20, 2), torch.randn(20), torch.randn(5, 2)


class PCA(nn.Module):
    def __init__(self, parts=3):
        super().__init__()
        self.parts, self.out = parts, nn.Linear(parts, 2)

    def forward(self, x):
        x = x - x.mean(0)
        axes = torch.linalg.svd(x, full_matrices=False).Vh[: self.parts]
        values = torch.linalg.eigvalsh(x.T @ x)
        return self.out(x @ axes.T) * values[-1].sqrt()


def pca():
    return PCA(), torch.randn(30, 6), torch.randint(0, 2, (30,))


class GraphConvolution(nn.Module):
    def __init__(self, before, width):
        super().__init__()
        self.linear, self.attention = nn.Linear(before, width), nn.Linear(2 * width, 1)

    def forward(self, x, edges):
        begin, end = edges
        x = self.linear(x)
        degree = torch.zeros(len(x)).scatter_add_(0, end, torch.ones(len(end))).clamp(min=1)
        share = (degree[begin] * degree[end]).rsqrt()
        score = F.leaky_relu(self.attention(torch.cat([x[begin], x[end]], 1))).squeeze(1)
        most = torch.full((len(x),), -1e9).scatter_reduce(0, end, score, "amax")
        weight = torch.exp(score - most[end])
        total = torch.zeros(len(x)).index_add(0, end, weight)
        message = x[begin] * (share * weight / total[end])[:, None]
        return torch.zeros_like(x).index_add_(0, end, message)


def graph_convolution():
    first, second = GraphConvolution(8, 16), GraphConvolution(16, 4)
    optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], weight_decay=5e-4)

    def step(x, edges, classes, known):
        out = second(F.relu(first(x, edges)), edges)
        loss = F.cross_entropy(out[known], classes[known])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return (out.argmax(1)[~known] == classes[~known]).float().mean()

    nodes, edges = torch.randn(20, 8), torch.randint(0, 20, (2, 60))
    return step, nodes, edges, torch.randint(0, 4, (20,)), torch.rand(20) > 0.5


class Spectral(nn.Module):
    """A layer of a Fourier neural operator."""

    def __init__(self, width=8, modes=5):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.randn(width, width, modes, modes, dtype=torch.cfloat) / width**2)
        self.beside = nn.Conv2d(width, width, 1)

    def forward(self, x):
        waves = torch.fft.rfft2(x)
        out = torch.zeros_like(waves)
        part = waves[:, :, : self.modes, : self.modes]
        out[:, :, : self.modes, : self.modes] = torch.einsum("bixy,ioxy->boxy", part, self.weight)
        return F.gelu(torch.fft.irfft2(out, s=x.shape[-2:]) + self.beside(x))


def fourier_operator():
    model = nn.Sequential(nn.Conv2d(3, 8, 1), Spectral(), Spectral(), nn.Conv2d(8, 1, 1))
    return model, torch.randn(4, 3, 32, 32), torch.randn(4, 1, 32, 32)


class ComplexLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.view_as_complex(torch.randn(4, 4, 2)))

    def forward(self, x):
        turned = torch.polar(x.abs(), x.angle()) @ self.weight
        return torch.view_as_real(turned * torch.exp(1j * turned.real)).norm(dim=-1)


def complex_layer():
    return ComplexLayer(), torch.randn(8, 4, dtype=torch.cfloat), torch.randn(8, 4)


class KAN(nn.Module):
    """A Kolmogorov-Arnold layer with cubic B-splines."""

    def __init__(self, before, after, knots=8):
        super().__init__()
        self.register_buffer("grid", torch.linspace(-2, 2, knots + 6).expand(before, -1).contiguous())
        self.spline = nn.Parameter(torch.randn(after, before, knots + 2) * 0.1)
        self.base = nn.Linear(before, after)

    def forward(self, x):
        x = x[..., None]
        grid = self.grid
        bases = ((x >= grid[:, :-1]) & (x < grid[:, 1:])).to(x.dtype)
        for k in range(1, 4):
            left = (x - grid[:, : -(k + 1)]) / (grid[:, k:-1] - grid[:, : -(k + 1)]) * bases[..., :-1]
            right = (grid[:, k + 1 :] - x) / (grid[:, k + 1 :] - grid[:, 1:-k]) * bases[..., 1:]
            bases = left + right
        return self.base(F.silu(x[..., 0])) + F.linear(bases.flatten(1), self.spline.flatten(1))


def kan():
    return nn.Sequential(KAN(2, 5), KAN(5, 1)), torch.rand(32, 2), torch.rand(32, 1)


def contrastive():
    encoder = nn.Sequential(nn.Linear(32, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))

    def step(first, second):
        z = F.normalize(torch.cat([encoder(first), encoder(second)]), dim=1)
        alike = z @ z.T / 0.5
        alike.fill_diagonal_(float("-inf"))
        wanted = torch.arange(len(z)).roll(len(first))
        apart = (
            F.pdist(z).mean() + torch.cdist(z, z.detach()).mean() + F.cosine_similarity(z, z.flip(0)).mean()
        )
        triplet = F.triplet_margin_loss(z[:16], z[16:], z.flip(0)[:16])
        (F.cross_entropy(alike, wanted) - 0.1 * apart + triplet).backward()

    return step, torch.randn(16, 32), torch.randn(16, 32)


def policy_gradient():
    policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    value = nn.Linear(4, 1)
    optimizer = torch.optim.RMSprop([*policy.parameters(), *value.parameters()])

    def step(states, rewards):
        chances = torch.distributions.Categorical(logits=policy(states))
        actions = chances.sample()
        returns, total = [], torch.zeros(())
        for reward in rewards.flip(0):
            total = reward + 0.99 * total
            returns.insert(0, total)
        returns = torch.stack(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        gain = returns - value(states).squeeze(-1)
        ratio = torch.exp(chances.log_prob(actions) - chances.log_prob(actions).detach())
        clipped = torch.min(ratio * gain.detach(), ratio.clamp(0.8, 1.2) * gain.detach())
        width = torch.distributions.Beta(torch.tensor(2.0), torch.tensor(3.0)).rsample()
        loss = -clipped.mean() + gain.pow(2).mean() - 0.01 * chances.entropy().mean() * width
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return [int(action) for action in actions]

    return step, torch.randn(12, 4), torch.ones(12)


def physics_informed():
    net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))

    def step(points):
        points.requires_grad_(True)
        u = net(points)
        (slope,) = torch.autograd.grad(u, points, torch.ones_like(u), create_graph=True)
        (bend,) = torch.autograd.grad(slope[:, 0].sum(), points, create_graph=True)
        residual = slope[:, 1] + u[:, 0] * slope[:, 0] - 0.01 / torch.pi * bend[:, 0]
        residual.square().mean().backward()

    return step, torch.rand(64, 2)


def quantization_aware():
    layer, scale = nn.Linear(16, 8), torch.ones(1, requires_grad=True)

    def step(x, y):
        weight = torch.fake_quantize_per_channel_affine(
            layer.weight, torch.full((8,), 0.05), torch.zeros(8, dtype=torch.int32), 0, -128, 127
        )
        x = torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127)
        rounded = x + ((x / scale).round().clamp(-8, 7) * scale - x).detach()
        F.mse_loss(F.linear(rounded, weight, layer.bias), y).backward()

    return step, torch.randn(4, 16), torch.randn(4, 8)


def int8():
    weight = torch.randint(-128, 127, (8, 16), dtype=torch.int8)
    scales = torch.rand(8, dtype=torch.bfloat16)

    def step(x):
        stored = torch.quantize_per_tensor(x, 0.1, 0, torch.quint8).dequantize()
        by_hand = stored @ (weight.to(torch.float32) * scales[:, None].float()).T
        return by_hand + torch._weight_int8pack_mm(x.bfloat16(), weight, scales).float()

    return step, torch.randn(4, 16)


def mel_speech():
    bank, out = torch.rand(201, 40), nn.Linear(40, 10)

    def step(sound, classes):
        waves = torch.stft(sound, 400, 160, window=torch.hann_window(400), return_complex=True)
        mel = torch.log10(waves.abs().pow(2).transpose(1, 2) @ bank + 1e-6)
        mel = (mel - mel.mean(1, keepdim=True)) / mel.std(1, keepdim=True)
        F.cross_entropy(out(mel.median(1).values + mel.quantile(0.9, 1)), classes).backward()
        return torch.istft(waves, 400, 160, window=torch.hann_window(400))

    return step, torch.randn(2, 8000), torch.randint(0, 10, (2,))
