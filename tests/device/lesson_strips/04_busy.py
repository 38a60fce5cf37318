import torch

wide = torch.nn.Sequential(*(torch.nn.Linear(4096, 4096) for _ in range(4))).cuda()
narrow = torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(4))).cuda()


def run(network, rows, times):
    x = torch.rand(rows, network[0].in_features, device="cuda")
    with torch.inference_mode():
        for _ in range(times):
            network(x)
    torch.cuda.synchronize()


run(wide, 512, 1), run(wide, 1, 1), run(narrow, 1, 1)
# %%
run(wide, 512, 500)
# %%
run(wide, 1, 10_000)
# %%
run(narrow, 1, 10_000)
