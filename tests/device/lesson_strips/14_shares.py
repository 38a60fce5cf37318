import copy

import torch

first = torch.nn.Sequential(*(torch.nn.Linear(4096, 4096) for _ in range(8))).to("cuda:0")
networks = [first, copy.deepcopy(first).to("cuda:1")]


def step(shares):
    for network, rows in zip(networks, shares, strict=True):
        x = torch.ones(rows, 4096, device=network[0].weight.device)
        network(x).square().sum().backward()
    for one, other in zip(*(network.parameters() for network in networks), strict=True):
        one.grad += other.grad.to("cuda:0")
        other.grad.copy_(one.grad)
        for parameter in (one, other):
            parameter.data -= 1e-12 * parameter.grad
            parameter.grad = None


step([8192, 8192]), step([14_336, 2048])
# %%
for _ in range(20):
    step([8192, 8192])
torch.cuda.synchronize(0), torch.cuda.synchronize(1)
# %%
for _ in range(20):
    step([14_336, 2048])
torch.cuda.synchronize(0), torch.cuda.synchronize(1)
