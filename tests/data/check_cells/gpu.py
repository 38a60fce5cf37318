# %% large product in mixed precision
a = torch.randn(2048, 8192, device="cuda", dtype=torch.bfloat16)
b = a @ a.mT
# %% product of one row
torch.randn(1, 4096, device="cuda") @ torch.randn(4096, 4096, device="cuda")
# %% tall product in float16
torch.randn(64, 16384, device="cuda", dtype=torch.float16) @ torch.randn(16384, 32, device="cuda", dtype=torch.float16)
# %% sums by atomics
x = torch.randn(100_000, device="cuda")
places = torch.randint(0, 50, (100_000,), device="cuda")
torch.zeros(50, device="cuda").index_add_(0, places, x)
torch.zeros(50, device="cuda").scatter_add_(0, places, x)
torch.zeros(50, device="cuda").index_put_((places,), x, accumulate=True)
# %% sums by atomics in bfloat16
x = torch.randn(20_000, device="cuda", dtype=torch.bfloat16)
places = torch.randint(0, 50, (20_000,), device="cuda")
torch.zeros(50, device="cuda", dtype=torch.bfloat16).index_add_(0, places, x)
torch.zeros(50, device="cuda", dtype=torch.bfloat16).scatter_reduce_(0, places, x, "mean")
# %% gradient of an embedding
table = nn.Embedding(100, 64, device="cuda")
table(torch.randint(0, 100, (64, 128), device="cuda")).square().sum().backward()
# %% gradient of an embedding bag
table = nn.EmbeddingBag(100, 64, device="cuda", mode="mean")
table(torch.randint(0, 100, (64, 128), device="cuda")).square().sum().backward()
# %% counts of labels
torch.bincount(torch.randint(0, 10, (10_000,), device="cuda"), minlength=10)
torch.histc(torch.rand(10_000, device="cuda"), 20, 0, 1)
# %% dropout in training
net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10)).cuda().train()
F.cross_entropy(net(torch.randn(256, 64, device="cuda")), torch.randint(0, 10, (256,), device="cuda")).backward()
# %% dropout of channels
F.dropout2d(torch.randn(8, 16, 12, 12, device="cuda"), 0.3, training=True)
# %% attention with dropout
q = torch.randn(2, 4, 64, 32, device="cuda", requires_grad=True)
F.scaled_dot_product_attention(q, q, q, dropout_p=0.2).sum().backward()
# %% flash attention
q = torch.randn(2, 8, 256, 64, device="cuda", dtype=torch.float16, requires_grad=True)
with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
    F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
# %% memory-efficient attention
q = torch.randn(2, 8, 256, 64, device="cuda", requires_grad=True)
with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION):
    F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
# %% attention of cuDNN
q = torch.randn(2, 8, 256, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
    F.scaled_dot_product_attention(q, q, q).sum().backward()
# %% attention with a mask
q = torch.randn(2, 8, 128, 64, device="cuda", dtype=torch.bfloat16)
F.scaled_dot_product_attention(q, q, q, attn_mask=torch.rand(128, 128, device="cuda") > 0.3)
# %% encoder in evaluation
layer = nn.TransformerEncoderLayer(64, 4, batch_first=True, device="cuda").eval()
with torch.inference_mode():
    layer(torch.randn(8, 32, 64, device="cuda"))
# %% channels last
conv = nn.Conv2d(32, 64, 3, padding=1).cuda().to(memory_format=torch.channels_last)
x = torch.randn(8, 32, 32, 32, device="cuda").to(memory_format=torch.channels_last)
conv(x).square().mean().backward()
# %% convolution chosen by trying
torch.backends.cudnn.benchmark = True
conv = nn.Conv2d(64, 64, 3, padding=1).cuda()
conv(torch.randn(16, 64, 28, 28, device="cuda")).square().mean().backward()
torch.backends.cudnn.benchmark = False
# %% grouped convolution in float16
conv = nn.Conv2d(64, 64, 5, padding=2, groups=8).cuda().half()
conv(torch.randn(8, 64, 20, 20, device="cuda", dtype=torch.float16)).float().square().mean().backward()
# %% batch norm in training
net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU()).cuda()
net(torch.randn(32, 3, 24, 24, device="cuda") * 3 + 5).square().mean().backward()
# %% layer norm in bfloat16
norm = nn.LayerNorm(768, device="cuda", dtype=torch.bfloat16)
norm(torch.randn(32, 128, 768, device="cuda", dtype=torch.bfloat16)).float().square().mean().backward()
# %% mixed precision with scaled gradients
net = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 10)).cuda()
adam, scaler = torch.optim.AdamW(net.parameters()), torch.amp.GradScaler("cuda")
for _ in range(3):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.cross_entropy(net(torch.randn(128, 64, device="cuda")), torch.randint(0, 10, (128,), device="cuda"))
    adam.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(adam)
    scaler.update()
# %% mixed precision in bfloat16
net = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 14 * 14, 10)).cuda()
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = F.cross_entropy(net(torch.randn(32, 3, 16, 16, device="cuda")), torch.randint(0, 10, (32,), device="cuda"))
loss.backward()
# %% recurrent networks of cuDNN
for kind in (nn.RNN, nn.GRU, nn.LSTM):
    kind(32, 64, num_layers=2, batch_first=True).cuda()(torch.randn(8, 20, 32, device="cuda"))[0].sum().backward()
# %% fused Adam
net = nn.Linear(256, 256).cuda()
adam = torch.optim.Adam(net.parameters(), fused=True)
net(torch.randn(64, 256, device="cuda")).square().mean().backward()
adam.step()
# %% clipped gradients
net = nn.Linear(256, 256).cuda()
net(torch.randn(64, 256, device="cuda")).square().mean().backward()
nn.utils.clip_grad_norm_(net.parameters(), 0.1)
# %% a stream of its own
side = torch.cuda.Stream()
x = torch.randn(512, 512, device="cuda")
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    y = x @ x
torch.cuda.current_stream().wait_stream(side)
y.sum()
# %% a captured graph
x = torch.randn(64, 64, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    y = (x @ x).relu()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = (x @ x).relu()
x.copy_(torch.ones(64, 64, device="cuda"))
graph.replay()
assert y.mean().item() == 64
# %% copies that do not wait
x = torch.randn(1000, 1000, device="cpu").pin_memory()
y = x.to("cuda", non_blocking=True) * 2
z = y.to("cpu", non_blocking=True)
torch.cuda.synchronize()
z.sum()
# %% fast Fourier transforms
x = torch.randn(16, 1024, device="cuda")
torch.fft.irfft(torch.fft.rfft(x) * 2), torch.fft.fft2(torch.randn(64, 64, device="cuda"))
torch.stft(x, 128, window=torch.hann_window(128, device="cuda"), return_complex=True)
# %% linear algebra
a = torch.randn(4, 32, 32, device="cuda")
a = a @ a.mT + 32 * torch.eye(32, device="cuda")
torch.linalg.cholesky(a), torch.linalg.inv(a), torch.linalg.det(a / 32), torch.linalg.solve(a, a[..., :1])
# %% losses of sequences
scores = torch.randn(50, 4, 20, device="cuda").log_softmax(2).detach().requires_grad_()
F.ctc_loss(scores, torch.randint(1, 20, (4, 10)), torch.full((4,), 50), torch.full((4,), 10)).backward()
# %% long cumulative sums
torch.randn(100_000, device="cuda").cumsum(0), torch.rand(64, 1000, device="cuda").logcumsumexp(1)
# %% sums in low precision
torch.rand(1_000_000, device="cuda", dtype=torch.float16).mean(), torch.rand(300_000, device="cuda", dtype=torch.bfloat16).sum()
# %% quantiles and sorting
x = torch.randn(10_000, device="cuda")
x.sort(), x.topk(100), x.median(), x.quantile(0.3), x.kthvalue(50), torch.unique((x * 5).int())
# %% enlarged pictures
x = torch.randn(2, 3, 32, 32, device="cuda", requires_grad=True)
for mode in ("nearest", "bilinear", "bicubic", "area"):
    F.interpolate(x, scale_factor=2, mode=mode).sum().backward()
# %% sampled pictures
x = torch.randn(2, 3, 32, 32, device="cuda", requires_grad=True)
grid = torch.rand(2, 16, 16, 2, device="cuda") * 2 - 1
F.grid_sample(x, grid, align_corners=False).sum().backward()
# %% two GPUs or one
x = torch.randn(100, 100, device=f"cuda:{torch.cuda.device_count() - 1}")
y = x.to("cuda:0")
(y @ y).cpu()
# %% a VAE's step
encoder, decoder = nn.Linear(784, 64).cuda(), nn.Linear(32, 784).cuda()
x = torch.rand(128, 784, device="cuda")
mean, spread = encoder(x).chunk(2, 1)
z = mean + torch.randn_like(spread) * (spread / 2).exp()
loss = F.binary_cross_entropy_with_logits(decoder(z), x) - 0.5 * (1 + spread - mean**2 - spread.exp()).mean()
loss.backward()
# %% a small GPT's step
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.mix, self.out = nn.LayerNorm(64), nn.Linear(64, 192), nn.Linear(64, 64)

    def forward(self, x):
        q, k, v = self.mix(self.norm(x)).view(*x.shape[:2], 3, 4, 16).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).reshape(x.shape))


net = nn.Sequential(nn.Embedding(65, 64), Block(), Block(), nn.Linear(64, 65)).cuda()
tokens = torch.randint(0, 65, (16, 65), device="cuda")
adam = torch.optim.AdamW(net.parameters(), 1e-3)
for _ in range(2):
    adam.zero_grad()
    F.cross_entropy(net(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
    adam.step()
