import torch

a = torch.rand(8192, 8192, device="cuda")
a @ a  # the first run prepares the GPU, and is not counted
torch.cuda.synchronize()
# %%
for _ in range(30):
    b = a @ a
# %%
for _ in range(30):
    b = a @ a
torch.cuda.synchronize()
