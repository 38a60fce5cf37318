"""Models of images."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


def mlp():
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
    return model, torch.randn(32, 1, 28, 28), torch.randint(0, 10, (32,))


def cnn():
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3),
        nn.LeakyReLU(),
        nn.AvgPool2d(2),
        nn.Dropout2d(0.1),
        nn.Flatten(),
        nn.Linear(32 * 36, 10),
        nn.LogSoftmax(1),
    )
    images, classes = torch.randn(16, 1, 28, 28), torch.randint(0, 10, (16,))
    optimizer = torch.optim.Adam(model.parameters())

    def step(images, classes):
        optimizer.zero_grad()
        loss = F.nll_loss(model(images), classes)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step, images, classes


def vgg_block():
    layers, channels = [], 3
    for width in (32, 64):
        layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(inplace=True)]
        layers += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2, 2)]
        channels = width
    head = [nn.AdaptiveAvgPool2d((7, 7)), nn.Flatten(), nn.Linear(64 * 49, 10)]
    return nn.Sequential(*layers, *head), torch.randn(4, 3, 56, 56), torch.randint(0, 10, (4,))


class Residual(nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.shortcut = nn.Identity()
        if stride != 1 or before != width:
            self.shortcut = nn.Sequential(
                nn.Conv2d(before, width, 1, stride, bias=False), nn.BatchNorm2d(width)
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU())
        self.pool = nn.MaxPool2d(3, 2, 1)
        widths = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
        self.stages = nn.ModuleList(
            nn.Sequential(Residual(before, width, stride), Residual(width, width, 1))
            for before, width, stride in widths
        )
        self.fc = nn.Linear(512, 1000)

    def forward(self, x):
        x = self.pool(self.stem(x))
        for stage in self.stages:
            x = stage(x)
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


def resnet18():
    return ResNet18(), torch.randn(8, 3, 224, 224), torch.randint(0, 1000, (8,))


def _double(before, width):
    return nn.Sequential(
        nn.Conv2d(before, width, 3, padding=1),
        nn.GroupNorm(4, width),
        nn.SiLU(),
        nn.Conv2d(width, width, 3, padding=1),
        nn.InstanceNorm2d(width),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.middle = _double(3, 16), _double(16, 32), _double(32, 64)
        self.up2, self.up1 = nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)
        self.out2, self.out1, self.head = _double(64, 32), _double(32, 16), nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.middle(F.max_pool2d(b, 2))
        b = self.out2(torch.cat([self.up2(c), b], 1))
        a = self.out1(torch.cat([F.interpolate(b, scale_factor=2, mode="bilinear")[:, :16], a], 1))
        return self.head(a)


def unet():
    model = UNet()
    optimizer = torch.optim.AdamW(model.parameters())

    def step(images, masks):
        logits = model(images)
        chance = logits.sigmoid()
        dice = 1 - (2 * (chance * masks).sum() + 1) / (chance.sum() + masks.sum() + 1)
        loss = F.binary_cross_entropy_with_logits(logits, masks) + dice
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return step, torch.randn(4, 3, 64, 64), torch.randint(0, 2, (4, 1, 64, 64)).float()


class Inverted(nn.Module):
    def __init__(self, width, stride=1):
        super().__init__()
        inner = width * 4
        self.layers = nn.Sequential(
            nn.Conv2d(width, inner, 1, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU6(inplace=True),
            nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False),
            nn.BatchNorm2d(inner),
            nn.Hardswish(),
            nn.Conv2d(inner, width, 1, bias=False),
            nn.BatchNorm2d(width),
        )
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width, 1), nn.Hardsigmoid())

    def forward(self, x):
        out = self.layers(x)
        return out * self.squeeze(out)


def mobilenet():
    stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU6())
    model = nn.Sequential(stem, Inverted(16), Inverted(16, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    model.append(nn.Linear(16, 10))
    return model, torch.randn(8, 3, 64, 64), torch.randint(0, 10, (8,))


class ViT(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 17, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, 4, 128, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.positions
        return self.head(self.encoder(x)[:, 0])


def vit():
    return ViT(), torch.randn(8, 3, 32, 32), torch.randint(0, 10, (8,))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Conv1d(4, 8, 5, padding="same")
        self.dilated = nn.Conv2d(4, 8, 3, dilation=2, padding=2, padding_mode="reflect")
        self.grouped = nn.Conv2d(8, 8, 3, groups=4)
        self.back = nn.ConvTranspose1d(8, 4, 4, 2, 1)
        self.volume = nn.Conv3d(1, 4, 3, padding=1)
        self.volume_back = nn.ConvTranspose3d(4, 1, 2, 2)

    def forward(self, x):
        line = self.back(F.max_pool1d(self.line(x.flatten(2)), 2)).mean((1, 2))
        plane = self.grouped(F.pad(self.dilated(x), (1, 1, 1, 1), mode="replicate")).amax((1, 2, 3))
        volume = self.volume_back(F.max_pool3d(self.volume(x.unsqueeze(1)), 2)).mean((1, 2, 3, 4))
        shuffled = F.pixel_shuffle(x, 2).amin((1, 2, 3)) + F.lp_pool2d(x, 2.0, 2).sum((1, 2, 3))
        return torch.stack([line, plane, volume, shuffled], 1)


def kinds_of_convolutions():
    return Convolutions(), torch.randn(4, 4, 16, 16), torch.randint(0, 4, (4,))


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ELU(), nn.Conv2d(8, 4, 3, 2, 1), nn.Tanh())
        self.pool = nn.MaxPool2d(2, return_indices=True)
        self.unpool = nn.MaxUnpool2d(2)
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(4, 8, 4, 2, 1),
            nn.SELU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(8, 1, 3, 1, 1),
        )

    def forward(self, x):
        values, places = self.pool(self.encoder(x))
        return self.decoder(self.unpool(values, places)).sigmoid()


def autoencoder():
    images = torch.rand(8, 1, 32, 32)
    return Autoencoder(), images, images
