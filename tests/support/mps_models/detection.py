"""Models that find places in images."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


def box_areas(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def suppress(boxes, scores, most=0.5):
    """Non-maximum suppression, as written by hand."""
    order, kept = scores.argsort(descending=True), []
    while len(order):
        first, rest = order[0], order[1:]
        kept.append(first)
        corners = (
            torch.maximum(boxes[first, :2], boxes[rest, :2]),
            torch.minimum(boxes[first, 2:], boxes[rest, 2:]),
        )
        inside = (corners[1] - corners[0]).clamp(min=0).prod(1)
        both = box_areas(boxes[first][None]) + box_areas(boxes[rest]) - inside
        order = rest[inside / both <= most]
        if len(kept) == 3:
            break
    return torch.stack(kept)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.SiLU(), nn.MaxPool2d(5, 1, 2)
        )
        self.head = nn.Conv2d(16, 3 * 7, 1)

    def forward(self, x):
        out = self.head(F.interpolate(self.body(x), scale_factor=0.5, mode="bicubic", align_corners=False))
        batch, _, height, width = out.shape
        out = out.view(batch, 3, 7, height, width).permute(0, 1, 3, 4, 2)
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        grid = torch.stack([columns, rows], -1).to(out)
        centers = out[..., :2].sigmoid() * 2 - 0.5 + grid
        sizes = out[..., 2:4].exp().clamp(max=1e3)
        return torch.cat([centers - sizes / 2, centers + sizes / 2, out[..., 4:].sigmoid()], -1)


def detector():
    model = Detector()
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, nesterov=True)

    def step(images, wanted):
        found = model(images).flatten(1, 3)
        loss = F.smooth_l1_loss(found[:, : wanted.shape[1], :4], wanted) + F.huber_loss(
            found[..., 4].mean(), wanted[0, 0, 0]
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            boxes, scores = found[0, :, :4], found[0, :, 4]
            best = scores.topk(20).indices
            boxes, scores = boxes[best], scores[best]
            return boxes[suppress(boxes, scores)]

    return step, torch.randn(2, 3, 64, 64), torch.rand(2, 5, 4)


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.where = nn.Sequential(nn.Conv2d(1, 4, 7, 2), nn.ReLU(), nn.AdaptiveMaxPool2d(4), nn.Flatten())
        self.theta = nn.Linear(64, 6)
        self.out = nn.Linear(28 * 28, 10)

    def forward(self, x):
        theta = self.theta(self.where(x)).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.shape, align_corners=False)
        return self.out(F.grid_sample(x, grid, mode="bilinear", align_corners=False).flatten(1))


def spatial_transformer():
    return SpatialTransformer(), torch.randn(4, 1, 28, 28), torch.randint(0, 10, (4,))
