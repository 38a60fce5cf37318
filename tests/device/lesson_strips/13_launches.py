import torch

layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
bert_large = torch.nn.TransformerEncoder(layer, 24, enable_nested_tensor=False).cuda()
adam = torch.optim.Adam(bert_large.parameters(), capturable=True)
text = torch.rand(16, 128, 1024, device="cuda")  # 16 sequences of 128 tokens


def step():
    adam.zero_grad()
    with torch.autocast("cuda", torch.bfloat16):
        bert_large(text).square().mean().backward()
    adam.step()


aside = torch.cuda.Stream()
with torch.cuda.stream(aside):
    for _ in range(3):
        step()
torch.cuda.synchronize()
recorded = torch.cuda.CUDAGraph()
with torch.cuda.graph(recorded):
    step()
recorded.replay()
# %%
for _ in range(20):
    step()
torch.cuda.synchronize()
# %%
for _ in range(20):
    recorded.replay()
torch.cuda.synchronize()
