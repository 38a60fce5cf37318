# %% matrix product | float32 bfloat16 float16 complex64
a = torch.randn(64, 96, dtype=T)
b = a @ a.mH
b.diagonal().sum()
# %% batched product | float32 bfloat16 float16 complex64
a = torch.randn(4, 24, 48, dtype=T)
b = torch.bmm(a, a.mT)
# %% matrix and vector | float32 bfloat16 float16 complex64
a = torch.randn(64, 96, dtype=T)
v = a @ torch.randn(96, dtype=T)
# %% dot product | float32 bfloat16 float16 complex64
a = torch.randn(4000, dtype=T)
a.dot(a), torch.vdot(a, a)
# %% outer product | float32 bfloat16 float16 complex64
torch.outer(torch.randn(20, dtype=T), torch.randn(30, dtype=T))
# %% einsum | float32 bfloat16 float16 complex64
q = torch.randn(2, 3, 16, 8, dtype=T)
torch.einsum('bhqd,bhkd->bhqk', q, q)
# %% linear layer | float32 bfloat16 float16 complex64
layer = nn.Linear(64, 32, dtype=T)
layer(torch.randn(16, 64, dtype=T)).sum().abs().backward()
# %% long sum | float32 bfloat16 float16 complex64
torch.randn(100000, dtype=T).sum()
# %% sum with cancellation | float32 bfloat16 float16 complex64
x = torch.randn(10000, dtype=T)
torch.cat([x, -x]).sum()
# %% sum over dimensions | float32 bfloat16 float16 complex64
torch.randn(8, 16, 32, dtype=T).sum((0, 2))
# %% mean | float32 bfloat16 float16 complex64
torch.randn(100, 100, dtype=T).mean(1, keepdim=True)
# %% cumulative sum | float32 bfloat16 float16 complex64
torch.randn(500, dtype=T).cumsum(0)
# %% cumulative product | float32 bfloat16 float16 complex64
(torch.rand(50) + 0.5).to(T).cumprod(0)
# %% product | float32 bfloat16 float16 complex64
(torch.rand(30) + 0.5).to(T).prod()
# %% variance | float32 bfloat16 float16 complex64
(torch.randn(1000) + 5).to(T).var(), torch.randn(20, 30, dtype=T).std(1)
# %% norms | float32 bfloat16 float16 complex64
x = torch.randn(200, dtype=T)
x.norm(), x.norm(1), torch.linalg.norm(x)
# %% add and subtract | float32 bfloat16 float16 complex64
a, b = torch.randn(100, dtype=T), torch.randn(100, dtype=T)
a + b, a - b, a * b, a / b
# %% numbers | float32 bfloat16 float16 complex64
x = torch.randn(100, dtype=T)
(x * 0.1 + 0.3) / 0.7 - 0.1
# %% a number cancels | float32 bfloat16 float16 complex64
x = torch.full((10,), 0.1, dtype=T)
x - 0.1, x + (-0.1), x * 3 - 0.3
# %% exp and log | float32 bfloat16 float16 complex64
x = torch.randn(200, dtype=T)
x.exp(), x.abs().log(), (x.abs() + 1).log()
# %% trigonometry | float32 bfloat16 float16 complex64
x = torch.randn(200, dtype=T)
x.sin(), x.cos(), x.tan(), x.sinh(), x.cosh(), x.tanh()
# %% large angles | float32 bfloat16 float16
x = (torch.randn(200) * 1000).to(T)
x.sin(), x.cos()
# %% inverse functions | float32 bfloat16 float16 complex64
x = (torch.rand(200) * 1.9 - 0.95).to(T)
x.asin(), x.acos(), x.atan(), x.atanh(), x.asinh()
# %% acos at its ends | float32 bfloat16 float16
x = torch.tensor([-1.0, 1.0, 0.999, -0.999], dtype=T)
x.acos(), x.asin()
# %% roots | float32 bfloat16 float16 complex64
x = torch.rand(200).to(T)
x.sqrt(), x.rsqrt(), x.reciprocal(), x.square()
# %% powers | float32 bfloat16 float16 complex64
x = torch.rand(200).to(T)
x ** 2, x ** 3, x ** 0.5, x ** 2.7, 2.0 ** x, x.pow(-1)
# %% error functions | float32 bfloat16 float16
x = torch.randn(200, dtype=T)
torch.erf(x), torch.erfc(x), torch.special.expit(x)
# %% gamma functions | float32
x = (torch.rand(200) * 5 + 0.1).to(T)
torch.lgamma(x), torch.digamma(x)
# %% lgamma at its zeros | float32
x = torch.tensor([0.999, 1.0, 1.001, 1.999, 2.0, 2.001])
torch.lgamma(x)
# %% expm1 and log1p | float32 bfloat16 float16
x = (torch.randn(200) * 1e-3).to(T)
x.expm1(), x.log1p()
# %% activations | float32 bfloat16 float16
x = torch.randn(300, dtype=T)
F.relu(x), F.gelu(x), F.silu(x), F.elu(x), F.leaky_relu(x), F.softplus(x), F.mish(x), F.hardswish(x)
# %% gelu by tanh | float32 bfloat16 float16
F.gelu(torch.randn(300, dtype=T), approximate='tanh')
# %% gradients of activations | float32 bfloat16 float16
x = torch.randn(300, dtype=T, requires_grad=True)
for f in (F.relu, F.gelu, F.silu, F.elu, F.softplus, F.mish, torch.tanh, torch.sigmoid, F.hardswish, F.logsigmoid):
    f(x).sum().backward()
# %% sigmoid | float32 bfloat16 float16
x = (torch.randn(300) * 10).to(T)
torch.sigmoid(x), F.logsigmoid(x)
# %% softmax | float32 bfloat16 float16
x = torch.randn(16, 200, dtype=T)
x.softmax(-1), x.log_softmax(-1), F.softmin(x, 0)
# %% softmax of large numbers | float32 bfloat16 float16
x = (torch.randn(16, 50) * 100).to(T)
x.softmax(-1), x.log_softmax(-1)
# %% logsumexp | float32 bfloat16 float16
torch.logsumexp(torch.randn(16, 200, dtype=T), 1)
# %% cross entropy | float32 bfloat16 float16
x = torch.randn(32, 10, dtype=T, requires_grad=True)
F.cross_entropy(x, torch.randint(0, 10, (32,))).backward()
# %% cross entropy with smoothing | float32 bfloat16 float16
x = torch.randn(32, 10, dtype=T, requires_grad=True)
F.cross_entropy(x, torch.randint(0, 10, (32,)), label_smoothing=0.1).backward()
# %% cross entropy with weights | float32 bfloat16 float16
x = torch.randn(32, 4, dtype=T, requires_grad=True)
F.cross_entropy(x, torch.randint(0, 4, (32,)), weight=torch.rand(4).to(T)).backward()
# %% squared loss | float32 bfloat16 float16
x = torch.randn(32, 10, dtype=T, requires_grad=True)
F.mse_loss(x, torch.randn(32, 10, dtype=T)).backward()
# %% other losses | float32 bfloat16 float16
x, y = torch.randn(32, dtype=T, requires_grad=True), torch.rand(32).to(T)
for f in (F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.binary_cross_entropy_with_logits):
    f(x, y).backward()
# %% binary cross entropy | float32
x = torch.rand(32).to(T).requires_grad_()
F.binary_cross_entropy(x, torch.rand(32).to(T)).backward()
# %% divergence | float32 bfloat16 float16
p = torch.randn(8, 10, dtype=T).log_softmax(1)
F.kl_div(p, torch.rand(8, 10).softmax(1).to(T), reduction='batchmean')
# %% cosine | float32 bfloat16 float16
a, b = torch.randn(8, 32, dtype=T), torch.randn(8, 32, dtype=T)
F.cosine_similarity(a, b), F.normalize(a, dim=1)
# %% distances | float32
a, b = torch.randn(30, 8, dtype=T), torch.randn(20, 8, dtype=T)
torch.cdist(a, b), torch.cdist(a, a), F.pairwise_distance(a[:20], b)
# %% many distances | float32
a = torch.randn(60, 8, dtype=T)
torch.cdist(a, a)
# %% convolution | float32 bfloat16 float16
x = torch.randn(2, 3, 20, 20, dtype=T)
layer = nn.Conv2d(3, 8, 3, padding=1, dtype=T)
layer(x).sum().abs().backward()
# %% strided convolution | float32 bfloat16 float16
nn.Conv2d(4, 8, 5, stride=2, groups=2, dtype=T)(torch.randn(2, 4, 17, 17, dtype=T)).square().mean().backward()
# %% convolution of sequences | float32 bfloat16 float16
nn.Conv1d(4, 8, 3, dilation=2, dtype=T)(torch.randn(2, 4, 40, dtype=T)).square().mean().backward()
# %% convolution of volumes | float32 bfloat16 float16
nn.Conv3d(2, 4, 3, dtype=T)(torch.randn(1, 2, 6, 6, 6, dtype=T)).sum().backward()
# %% transposed convolution | float32 bfloat16 float16
nn.ConvTranspose2d(4, 3, 4, stride=2, padding=1, dtype=T)(torch.randn(2, 4, 8, 8, dtype=T)).square().mean().backward()
# %% depthwise convolution | float32 bfloat16 float16
nn.Conv2d(8, 8, 3, groups=8, bias=False, dtype=T)(torch.randn(2, 8, 10, 10, dtype=T)).sum().backward()
# %% max pooling | float32 bfloat16 float16
x = torch.randn(2, 3, 16, 16, dtype=T, requires_grad=True)
F.max_pool2d(x, 3, 2, 1).sum().backward()
# %% max pooling of ties | float32 bfloat16 float16
x = torch.randint(0, 3, (2, 3, 16, 16)).to(T).requires_grad_()
F.max_pool2d(x, 2).sum().backward()
# %% average pooling | float32 bfloat16 float16
x = torch.randn(2, 3, 16, 16, dtype=T, requires_grad=True)
F.avg_pool2d(x, 3, 2, 1).square().sum().backward()
# %% adaptive pooling | float32 bfloat16 float16
x = torch.randn(2, 3, 15, 15, dtype=T, requires_grad=True)
(F.adaptive_avg_pool2d(x, 4).sum() + F.adaptive_avg_pool2d(x, 1).sum()).backward()
# %% adaptive max pooling | float32 bfloat16 float16
x = torch.randn(2, 3, 15, 15, dtype=T, requires_grad=True)
F.adaptive_max_pool2d(x, 4).sum().backward()
# %% layer norm | float32 bfloat16 float16
x = torch.randn(8, 64, dtype=T, requires_grad=True)
nn.LayerNorm(64, dtype=T)(x).square().mean().backward()
# %% layer norm of offset rows | float32 bfloat16 float16
x = (torch.randn(8, 64) + 100).to(T).requires_grad_()
F.layer_norm(x, (64,)).square().mean().backward()
# %% batch norm | float32 bfloat16 float16
layer = nn.BatchNorm2d(4, dtype=T)
x = torch.randn(8, 4, 6, 6, dtype=T, requires_grad=True)
layer(x).square().mean().backward()
layer.eval()(x)
# %% group norm | float32 bfloat16 float16
x = torch.randn(4, 8, 6, 6, dtype=T, requires_grad=True)
nn.GroupNorm(4, 8, dtype=T)(x).square().mean().backward()
# %% instance norm | float32 bfloat16 float16
nn.InstanceNorm2d(4)(torch.randn(4, 4, 6, 6, dtype=T))
# %% rms norm | float32 bfloat16 float16
x = torch.randn(4, 32, dtype=T, requires_grad=True)
F.rms_norm(x, (32,)).square().sum().backward()
# %% dropout | float32 bfloat16 float16
x = torch.randn(100, dtype=T, requires_grad=True)
F.dropout(x, 0.3).sum().backward()
# %% embedding | float32 bfloat16 float16
words = nn.Embedding(50, 16, dtype=T)
words(torch.randint(0, 50, (8, 20))).square().sum().backward()
# %% embedding bag | float32
bag = nn.EmbeddingBag(50, 16, dtype=T)
bag(torch.randint(0, 50, (8, 20)))
# %% attention | float32 bfloat16 float16
q, k, v = (torch.randn(2, 4, 32, 16, dtype=T, requires_grad=True) for _ in range(3))
F.scaled_dot_product_attention(q, k, v).square().sum().backward()
# %% causal attention | float32 bfloat16 float16
q = torch.randn(2, 4, 32, 16, dtype=T, requires_grad=True)
F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
# %% masked attention | float32 bfloat16 float16
q = torch.randn(2, 4, 32, 16, dtype=T)
F.scaled_dot_product_attention(q, q, q, attn_mask=torch.ones(32, 32, dtype=torch.bool).tril())
# %% multi-head attention | float32 bfloat16 float16
layer = nn.MultiheadAttention(32, 4, batch_first=True, dtype=T)
x = torch.randn(2, 10, 32, dtype=T)
layer(x, x, x)[0].sum().backward()
# %% LSTM | float32 bfloat16
layer = nn.LSTM(8, 16, batch_first=True, dtype=T)
layer(torch.randn(2, 6, 8, dtype=T))[0].sum().backward()
# %% GRU | float32 bfloat16
layer = nn.GRU(8, 16, batch_first=True, dtype=T)
layer(torch.randn(2, 6, 8, dtype=T))[0].sum().backward()
# %% bilinear enlarging | float32 bfloat16 float16
x = torch.randn(1, 2, 9, 9, dtype=T, requires_grad=True)
F.interpolate(x, scale_factor=2, mode='bilinear').sum().backward()
# %% bicubic enlarging | float32
F.interpolate(torch.randn(1, 2, 9, 9, dtype=T), size=(20, 31), mode='bicubic')
# %% nearest enlarging | float32 bfloat16 float16
x = torch.randn(1, 2, 10, 10, dtype=T, requires_grad=True)
F.interpolate(x, size=(30, 21)).sum().backward()
# %% grid sampling | float32
x = torch.randn(1, 2, 8, 8)
F.grid_sample(x, torch.rand(1, 5, 5, 2) * 2 - 1, align_corners=False)
# %% unfold and fold | float32 bfloat16 float16
x = torch.randn(1, 3, 8, 8, dtype=T)
F.fold(F.unfold(x, 3), (8, 8), 3)
# %% padding | float32 bfloat16 float16
x = torch.randn(1, 2, 6, 6, dtype=T, requires_grad=True)
(F.pad(x, (1, 2)).sum() + F.pad(x, (2, 2, 1, 1), mode='reflect').sum() + F.pad(x, (1, 1, 1, 1), mode='replicate').sum()).backward()
# %% indexing | float32 bfloat16 float16 complex64
x = torch.randn(20, 10, dtype=T)
x[3], x[2:9:2], x[[1, 5, 5]], x[:, -1], x[x.abs() > 0.5]
# %% writing by index | float32 bfloat16 float16 complex64
x = torch.zeros(20, 10, dtype=T)
x[3] = 1
x[2:9:2, 1] = 0.1
x[[1, 5]] = torch.randn(2, 10, dtype=T)
x[x.abs() > 0.5] = 0
# %% writing one place twice | float32 bfloat16 float16 complex64
x = torch.zeros(20, dtype=T)
x[torch.tensor([3, 3, 4])] = torch.tensor([1, 2, 3]).to(T)
# %% adding by index | float32 bfloat16 float16 complex64
x = torch.zeros(20, dtype=T)
x.index_put_((torch.randint(0, 20, (200,)),), torch.rand(200).to(T), accumulate=True)
# %% scatter | float32 bfloat16 float16 complex64
i = torch.randint(0, 5, (300,))
x = torch.zeros(5, dtype=T)
x.scatter_add(0, i, torch.randn(300, dtype=T)), x.index_add(0, i, torch.ones(300, dtype=T))
# %% scatter with a mean | float32 bfloat16 float16
i = torch.randint(0, 5, (300,))
x = torch.zeros(5, dtype=T)
x.scatter_reduce(0, i, torch.rand(300).to(T), 'mean', include_self=False), x.scatter_reduce(0, i, torch.rand(300).to(T), 'amax')
# %% many ones at one place | float32 bfloat16 float16 complex64
torch.zeros(2, dtype=T).index_add(0, torch.zeros(5000, dtype=torch.long), torch.ones(5000, dtype=T))
# %% gather and select | float32 bfloat16 float16 complex64
x = torch.randn(8, 9, dtype=T, requires_grad=True)
(x.gather(1, torch.randint(0, 9, (8, 3))).sum() + x.index_select(0, torch.tensor([1, 1, 2])).sum()).abs().backward()
# %% sorting | float32 bfloat16 float16
x = torch.randn(200, dtype=T)
x.sort(), x.argsort(), x.sort(descending=True), x.topk(7), x.kthvalue(5)
# %% sorting ties | float32 bfloat16 float16
x = torch.randint(0, 5, (200,)).to(T)
x.sort(), x.argsort(descending=True), x.topk(50), x.argmax(), x.median()
# %% largest and smallest | float32 bfloat16 float16
x = torch.randn(20, 30, dtype=T)
x.max(), x.max(1), x.min(0), x.argmax(0), x.amax(1), x.median(1), x.cummax(0)
# %% comparing | float32 bfloat16 float16
x = torch.rand(200).to(T)
x > 0.1, x == 0.3, x <= x.flip(0), torch.where(x > 0.5, x, 0.1), x.clamp(0.1, 0.7), x.isnan()
# %% comparing with a number that rounds | float32 bfloat16 float16
x = torch.full((5,), 0.1, dtype=T)
x > 0.1, x == 0.1, x >= 0.1, x < 0.1
# %% rounding | float32 bfloat16 float16
x = (torch.randn(200) * 10).to(T)
x.round(), x.floor(), x.ceil(), x.trunc(), x.frac(), x.sign()
# %% remainders | float32 bfloat16 float16
x = (torch.randn(200) * 10).to(T)
x % 3, x // 3, torch.fmod(x, 0.7), x.remainder(0.1)
# %% whole numbers | float32
x = torch.arange(100)
x.sum(), x * 3, x // 7, x % 7, x.float().mean(), x / 3, x.cumsum(0), x.prod()
# %% whole matrix products | float32 bfloat16 float16 complex64
x = torch.randint(-5, 5, (20, 20))
x @ x, x.to(T) @ x.to(T)
# %% truth values | float32 bfloat16 float16 complex64
x = torch.randn(50, dtype=T) > 0 if not T.is_complex else torch.rand(50) > 0.5
x.any(), x.all(), x.sum(), ~x, x & x.roll(1)
# %% views and copies | float32 bfloat16 float16 complex64
x = torch.randn(6, 8, dtype=T)
x.T.reshape(-1), x.view(4, 12), x.permute(1, 0).contiguous(), x.expand(3, 6, 8).sum(0), x.unfold(0, 3, 1), x.split(3)
# %% in place on views | float32 bfloat16 float16 complex64
x = torch.randn(6, 8, dtype=T)
x[:, ::2].mul_(0.3)
x.T[1:3].add_(0.1)
x.diagonal().zero_()
x[0].copy_(x[1])
# %% joining | float32 bfloat16 float16 complex64
x = torch.randn(6, 8, dtype=T)
torch.cat([x, x]), torch.stack([x, x], 1), x.repeat(2, 2), x.roll(1), x.flip(0), x.tril()
# %% changing types | float32 bfloat16 float16 complex64
x = torch.randn(100, dtype=T)
x.to(torch.complex128).to(T) if T.is_complex else x.double().half().float().bfloat16().int()
# %% numbers that do not fit | float32 bfloat16 float16
torch.tensor([1e10, float('nan'), -1e10]).to(T).to(torch.int32)
# %% a range | float32 bfloat16 float16
torch.arange(0, 1, 0.1, dtype=T), torch.linspace(0, 1, 33, dtype=T), torch.logspace(0, 2, 9, dtype=T)
# %% random numbers | float32
torch.rand(10), torch.randperm(10), torch.bernoulli(torch.rand(10)), torch.multinomial(torch.rand(10), 3)
# %% overflow | float32 bfloat16 float16
x = torch.full((4,), 6e4).to(T)
x * 2, x + x, x.square(), x.sum(), x.exp()
# %% underflow | float32 bfloat16 float16
x = torch.full((4,), 1e-7).to(T)
x * x, x / 1000, (-1 / x.abs().clamp(min=1e-3)).exp()
# %% infinities | float32 bfloat16 float16
x = torch.tensor([float('inf'), -float('inf'), float('nan'), 0.0]).to(T)
x + 1, x - x, 1 / x, x.exp(), x.max(), x.sum(), x.softmax(0)
# %% Fourier transforms | float32
x = torch.randn(64)
X = torch.fft.fft(x), torch.fft.rfft(x), torch.fft.ifft(torch.fft.fft(x)), torch.fft.fft2(torch.randn(16, 16)), torch.fft.irfft(torch.fft.rfft(x))
# %% linear equations | float32 complex64
a = torch.randn(12, 12, dtype=T)
torch.linalg.solve(a, torch.randn(12, 3, dtype=T)), torch.linalg.inv(a), torch.linalg.det(a)
# %% decompositions | float32 complex64
a = torch.randn(12, 8, dtype=T)
torch.linalg.svd(a), torch.linalg.qr(a), torch.linalg.eigh(a @ a.mH), torch.linalg.cholesky(a.mH @ a + 4 * torch.eye(8, dtype=T))
# %% least squares | float32
torch.linalg.lstsq(torch.randn(20, 4), torch.randn(20, 1)).solution, torch.linalg.pinv(torch.randn(6, 4))
# %% plain SGD | float32 bfloat16 float16 complex64
w = torch.randn(20, 5, dtype=T, requires_grad=True)
x = torch.randn(64, 20, dtype=T)
for _ in range(5):
    loss = ((x @ w).abs() ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
# %% SGD lr=0.1 momentum=0.9 weight_decay=1e-4 | float32 bfloat16
layer = nn.Linear(20, 5, dtype=T)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
for _ in range(4):
    optimizer.zero_grad()
    layer(torch.randn(16, 20, dtype=T)).square().mean().backward()
    nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    optimizer.step()
# %% Adam lr=0.01 | float32 bfloat16
layer = nn.Linear(20, 5, dtype=T)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.01)
for _ in range(4):
    optimizer.zero_grad()
    layer(torch.randn(16, 20, dtype=T)).square().mean().backward()
    nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    optimizer.step()
# %% AdamW lr=0.01 foreach=True | float32 bfloat16
layer = nn.Linear(20, 5, dtype=T)
optimizer = torch.optim.AdamW(layer.parameters(), lr=0.01, foreach=True)
for _ in range(4):
    optimizer.zero_grad()
    layer(torch.randn(16, 20, dtype=T)).square().mean().backward()
    nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    optimizer.step()
# %% RMSprop lr=0.01 | float32 bfloat16
layer = nn.Linear(20, 5, dtype=T)
optimizer = torch.optim.RMSprop(layer.parameters(), lr=0.01)
for _ in range(4):
    optimizer.zero_grad()
    layer(torch.randn(16, 20, dtype=T)).square().mean().backward()
    nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    optimizer.step()
# %% Adagrad lr=0.01 | float32 bfloat16
layer = nn.Linear(20, 5, dtype=T)
optimizer = torch.optim.Adagrad(layer.parameters(), lr=0.01)
for _ in range(4):
    optimizer.zero_grad()
    layer(torch.randn(16, 20, dtype=T)).square().mean().backward()
    nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    optimizer.step()
# %% Adam lr=0.01 fused=True | float32
layer = nn.Linear(20, 5, dtype=T)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.01, fused=True)
for _ in range(4):
    optimizer.zero_grad()
    layer(torch.randn(16, 20, dtype=T)).square().mean().backward()
    nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    optimizer.step()
# %% a small CNN | float32 bfloat16 float16
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 5 * 5, 10)).to(T)
loss = F.cross_entropy(net(torch.randn(16, 1, 12, 12, dtype=T)), torch.randint(0, 10, (16,)))
loss.backward()
# %% a small transformer | float32 bfloat16 float16
net = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dtype=T), 2)
net(torch.randn(4, 12, 32, dtype=T)).square().mean().backward()
net.eval()
with torch.no_grad():
    net(torch.randn(4, 12, 32, dtype=T))
# %% automatic mixed precision | float32
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 8))
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = F.cross_entropy(net(torch.randn(16, 64)), torch.randint(0, 8, (16,)))
loss.backward()
# %% functional gradients | float32
from torch.func import grad, vmap
def loss(w, x):
    return (torch.tanh(x @ w) ** 2).sum()
vmap(grad(loss), in_dims=(None, 0))(torch.randn(6, 3), torch.randn(10, 4, 6))
# %% a compiled function | float32
@torch.compile
def f(x):
    return torch.sin(x) ** 2 + torch.cos(x) ** 2
f(torch.randn(100))
# %% checkpointed gradient | float32
from torch.utils.checkpoint import checkpoint
layer = nn.Linear(20, 20)
checkpoint(layer, torch.randn(4, 20, requires_grad=True), use_reentrant=False).sum().backward()
# %% second derivatives | float32
x = torch.randn(10, requires_grad=True)
g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
g.square().sum().backward()
# %% complex numbers | complex64
x = torch.randn(50, dtype=T)
x.abs(), x.angle(), x.conj() * x, torch.view_as_real(x), x.real, x.imag, torch.polar(x.abs(), x.angle())
# %% histograms and counts | float32
x = torch.randint(0, 9, (300,))
torch.bincount(x), torch.unique(x), torch.histc(torch.rand(100), 10), torch.bucketize(torch.rand(10), torch.linspace(0, 1, 5))
# %% adding a mask to scores | float32 bfloat16 float16
scores = torch.randn(2, 4, 8, 8, dtype=T)
mask = torch.full((8, 8), float('-inf'), dtype=T).triu(1)
p = (scores + mask).softmax(-1)
# %% softmax by hand | float32 bfloat16 float16
x = torch.randn(8, 30, dtype=T)
e = (x - x.max(-1, keepdim=True).values).exp()
p = e / e.sum(-1, keepdim=True)
# %% layer norm by hand | float32 bfloat16 float16
x = torch.randn(8, 30, dtype=T)
y = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()
# %% standardising columns | float32
x = torch.rand(200, 6) * torch.tensor([1.0, 10.0, 1e3, 1e-3, 5.0, 1e5])
x = (x - x.mean(0)) / x.std(0)
# %% least squares by gradient descent | float32
x = torch.linspace(-1, 1, 50)
y = 3 * x - 2 + 0.1 * torch.randn(50)
w, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
for _ in range(4):
    loss = ((w * x + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.3 * w.grad
        b -= 0.3 * b.grad
        w.grad.zero_()
        b.grad.zero_()
# %% logistic regression | float32 bfloat16
w = torch.zeros(6, dtype=T, requires_grad=True)
x, y = torch.randn(40, 6, dtype=T), (torch.rand(40) > 0.5).to(T)
for _ in range(3):
    loss = F.binary_cross_entropy_with_logits(x @ w, y)
    g, = torch.autograd.grad(loss, w)
    w = (w - 0.5 * g).detach().requires_grad_()
# %% k-means | float32
x = torch.randn(60, 2)
centres = x[:3].clone()
for _ in range(3):
    nearest = torch.cdist(x, centres).argmin(1)
    centres = torch.stack([x[nearest == i].mean(0) for i in range(3)])
# %% nearest neighbours | float32
x, q = torch.randn(50, 4), torch.randn(6, 4)
d = ((q[:, None] - x[None]) ** 2).sum(-1)
d.topk(3, largest=False), d.argsort(1)[:, :3]
# %% principal components | float32
x = torch.randn(40, 6)
x = x - x.mean(0)
c = x.T @ x / 39
w, v = torch.linalg.eigh(c)
x @ v[:, -2:]
# %% power iteration | float32
a = torch.randn(20, 20)
a = a @ a.T
v = torch.ones(20)
for _ in range(8):
    v = a @ v
    v = v / v.norm()
# %% Newton's method | float32
x = torch.tensor(1.0, requires_grad=True)
for _ in range(5):
    f = x ** 2 - 2
    g, = torch.autograd.grad(f, x)
    x = (x - f / g).detach().requires_grad_()
# %% Monte Carlo of pi | float32
p = torch.rand(2000, 2)
4 * ((p ** 2).sum(1) < 1).float().mean()
# %% Game of Life | float32
board = (torch.rand(1, 1, 16, 16) > 0.6).float()
kernel = torch.ones(1, 1, 3, 3)
kernel[0, 0, 1, 1] = 0
for _ in range(3):
    n = F.conv2d(board, kernel, padding=1)
    board = ((n == 3) | ((n == 2) & (board == 1))).float()
# %% Mandelbrot | complex64
c = torch.complex(torch.linspace(-2, 1, 20).expand(20, 20).contiguous(), torch.linspace(-1, 1, 20)[:, None].expand(20, 20).contiguous())
z = torch.zeros_like(c)
for _ in range(5):
    z = z * z + c
(z.abs() < 2).sum()
# %% heat equation | float32 float16
u = torch.zeros(20, 20, dtype=T)
u[8:12, 8:12] = 1
for _ in range(5):
    u[1:-1, 1:-1] += 0.2 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
# %% Markov chain | float32
p = torch.rand(5, 5).softmax(1)
torch.linalg.matrix_power(p, 10)
# %% images from bytes | float32 bfloat16 float16
x = torch.randint(0, 256, (4, 3, 16, 16), dtype=torch.uint8)
y = (x.to(T) / 255 - 0.5) / 0.25
# %% bytes that overflow | float32
x = torch.randint(0, 256, (50,), dtype=torch.uint8)
x + x, x * 3, x - 200, x.sum()
# %% shifting and counting bits | float32
x = torch.randint(0, 1000, (50,))
x << 2, x >> 1, x ^ 7, x | 1
# %% whole division by negatives | float32
x = torch.arange(-10, 10)
x // 3, x % 3, torch.div(x, 3, rounding_mode='trunc'), torch.fmod(x, 3), x.sign()
# %% one-hot and confusion matrix | float32
y, p = torch.randint(0, 4, (60,)), torch.randint(0, 4, (60,))
m = torch.zeros(4, 4, dtype=torch.long)
m.index_put_((y, p), torch.ones(60, dtype=torch.long), accumulate=True)
F.one_hot(y, 4).float().mean(0), m.diagonal().sum() / m.sum()
# %% accuracy | float32 bfloat16
logits, y = torch.randn(64, 10, dtype=T), torch.randint(0, 10, (64,))
(logits.argmax(1) == y).float().mean().item()
# %% perplexity | float32 bfloat16 float16
logits, y = torch.randn(2, 12, 40, dtype=T), torch.randint(0, 40, (2, 12))
F.cross_entropy(logits.view(-1, 40), y.view(-1)).exp()
# %% cross entropy that ignores padding | float32 bfloat16 float16
x = torch.randn(20, 5, dtype=T, requires_grad=True)
y = torch.randint(0, 5, (20,))
y[::3] = -100
F.cross_entropy(x, y).backward()
# %% cross entropy of probabilities | float32 bfloat16 float16
x = torch.randn(20, 5, dtype=T, requires_grad=True)
F.cross_entropy(x, torch.rand(20, 5).softmax(1).to(T)).backward()
# %% cross entropy of images | float32 bfloat16
x = torch.randn(2, 4, 6, 6, dtype=T, requires_grad=True)
F.cross_entropy(x, torch.randint(0, 4, (2, 6, 6))).backward()
# %% focal loss | float32 bfloat16
x = torch.randn(40, dtype=T, requires_grad=True)
y = (torch.rand(40) > 0.5).to(T)
ce = F.binary_cross_entropy_with_logits(x, y, reduction='none')
p = torch.exp(-ce)
((1 - p) ** 2 * ce).mean().backward()
# %% triplet and margin losses | float32
a, p, n = (torch.randn(10, 8, requires_grad=True) for _ in range(3))
(F.triplet_margin_loss(a, p, n) + F.margin_ranking_loss(a[:, 0], p[:, 0], torch.ones(10)) + F.cosine_embedding_loss(a, p, torch.ones(10))).backward()
# %% losses of counts and Gaussians | float32
x = torch.randn(20, requires_grad=True)
(F.poisson_nll_loss(x, torch.rand(20)) + F.gaussian_nll_loss(x, torch.rand(20), torch.rand(20) + 0.1)).backward()
# %% losses of several labels | float32
x = torch.randn(10, 5, requires_grad=True)
(F.multilabel_soft_margin_loss(x, torch.ones(10, 5)) + F.multi_margin_loss(x, torch.randint(0, 5, (10,))) + F.hinge_embedding_loss(x[:, 0], torch.ones(10))).backward()
# %% connectionist temporal classification | float32
x = torch.randn(12, 2, 6, requires_grad=True).log_softmax(2)
F.ctc_loss(x, torch.randint(1, 6, (2, 4)), torch.tensor([12, 12]), torch.tensor([4, 4])).backward()
# %% total variation | float32 bfloat16
x = torch.rand(1, 3, 12, 12).to(T).requires_grad_()
((x[..., 1:, :] - x[..., :-1, :]).abs().mean() + (x[..., 1:] - x[..., :-1]).abs().mean()).backward()
# %% positional encoding | float32 bfloat16
p = torch.arange(30)[:, None]
f = torch.exp(torch.arange(0, 16, 2) * (-9.21 / 16))
e = torch.zeros(30, 16, dtype=T)
e[:, 0::2], e[:, 1::2] = torch.sin(p * f).to(T), torch.cos(p * f).to(T)
# %% rotary embedding | float32 bfloat16 float16
x = torch.randn(2, 10, 4, 8, dtype=T)
angle = torch.outer(torch.arange(10.0), 1e4 ** (-torch.arange(0, 8, 2) / 8))
cos, sin = angle.cos().to(T)[:, None], angle.sin().to(T)[:, None]
a, b = x[..., ::2], x[..., 1::2]
y = torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
# %% gated feed-forward | float32 bfloat16 float16
w1, w2, w3 = (torch.randn(16, 16, dtype=T) / 4 for _ in range(3))
x = torch.randn(4, 16, dtype=T)
y = (F.silu(x @ w1) * (x @ w2)) @ w3
# %% gated linear unit | float32 bfloat16
x = torch.randn(4, 16, dtype=T, requires_grad=True)
F.glu(x).sum().backward()
# %% squeeze and excitation | float32 bfloat16
x = torch.randn(2, 8, 6, 6, dtype=T, requires_grad=True)
s = torch.sigmoid(x.mean((2, 3)) @ torch.randn(8, 8, dtype=T))
(x * s[..., None, None]).sum().backward()
# %% residual block | float32 bfloat16
net = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4)).to(T)
x = torch.randn(2, 4, 8, 8, dtype=T)
F.relu(x + net(x)).square().mean().backward()
# %% depthwise separable block | float32 bfloat16
net = nn.Sequential(nn.Conv2d(4, 4, 3, groups=4), nn.Hardswish(), nn.Conv2d(4, 8, 1), nn.AdaptiveAvgPool2d(1)).to(T)
net(torch.randn(2, 4, 8, 8, dtype=T)).sum().backward()
# %% U-Net step | float32
x = torch.randn(1, 2, 16, 16, requires_grad=True)
down = F.conv2d(F.max_pool2d(x, 2), torch.randn(4, 2, 3, 3), padding=1)
up = F.interpolate(down, scale_factor=2, mode='nearest')
torch.cat([x, up], 1).square().mean().backward()
# %% autoencoder | float32 bfloat16
net = nn.Sequential(nn.Linear(20, 4), nn.Tanh(), nn.Linear(4, 20)).to(T)
x = torch.randn(16, 20, dtype=T)
F.mse_loss(net(x), x).backward()
# %% variational autoencoder | float32
mean, logvar = torch.randn(8, 4, requires_grad=True), torch.randn(8, 4, requires_grad=True)
z = mean + torch.randn(8, 4) * (0.5 * logvar).exp()
(z.square().sum() - 0.5 * (1 + logvar - mean ** 2 - logvar.exp()).sum()).backward()
# %% adversarial step | float32
d = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid())
real, fake = torch.randn(8, 6), torch.randn(8, 6)
(F.binary_cross_entropy(d(real), torch.ones(8, 1)) + F.binary_cross_entropy(d(fake), torch.zeros(8, 1))).backward()
# %% policy gradient | float32
logits = torch.randn(10, 3, requires_grad=True)
actions = torch.distributions.Categorical(logits=logits).sample()
loss = -(torch.distributions.Categorical(logits=logits).log_prob(actions) * torch.randn(10)).mean()
loss.backward()
# %% temporal differences | float32
q, r = torch.rand(10, 3, requires_grad=True), torch.rand(10)
target = r + 0.9 * q.detach().max(1).values
F.smooth_l1_loss(q.gather(1, torch.randint(0, 3, (10, 1)))[:, 0], target).backward()
# %% diffusion step | float32 bfloat16
x, noise, t = torch.randn(4, 8, dtype=T), torch.randn(4, 8, dtype=T), torch.randint(0, 10, (4,))
keep = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 10), 0)[t][:, None].to(T)
x = keep.sqrt() * x + (1 - keep).sqrt() * noise
# %% message passing | float32 bfloat16
x = torch.randn(10, 4, dtype=T)
a, b = torch.randint(0, 10, (2, 30))
out = torch.zeros(10, 4, dtype=T).index_add(0, b, x[a])
degree = torch.bincount(b, minlength=10).clamp(min=1).to(T)
out / degree[:, None]
# %% greedy decoding | float32
w = torch.randn(12, 12)
tokens = [torch.tensor(0)]
for _ in range(5):
    tokens.append(w[tokens[-1]].softmax(-1).argmax())
torch.stack(tokens)
# %% top-p sampling | float32
p = torch.randn(50).softmax(0)
s, i = p.sort(descending=True)
s[s.cumsum(0) - s > 0.9] = 0
i[torch.multinomial(s / s.sum(), 1)]
# %% key and value cache | float32 bfloat16
cache = torch.zeros(1, 2, 8, 4, dtype=T)
for i in range(3):
    cache[:, :, i] = torch.randn(1, 2, 4, dtype=T)
    q = torch.randn(1, 2, 1, 4, dtype=T)
    F.scaled_dot_product_attention(q, cache[:, :, :i + 1], cache[:, :, :i + 1])
# %% grouped queries | float32 bfloat16
q, k = torch.randn(1, 4, 6, 8, dtype=T), torch.randn(1, 2, 6, 8, dtype=T)
F.scaled_dot_product_attention(q, k, k, enable_gqa=True)
# %% attention with a bias | float32 bfloat16 float16
q = torch.randn(1, 2, 6, 8, dtype=T, requires_grad=True)
F.scaled_dot_product_attention(q, q, q, attn_mask=torch.randn(6, 6, dtype=T), scale=0.2).sum().backward()
# %% causal attention of other lengths | float32 bfloat16
q, k = torch.randn(1, 2, 4, 8, dtype=T), torch.randn(1, 2, 9, 8, dtype=T)
F.scaled_dot_product_attention(q, k, k, is_causal=True)
# %% window attention by unfold | float32
x = torch.randn(1, 12, 4)
w = x.unfold(1, 3, 1)
(w * w[..., :1]).sum(2).softmax(-1)
# %% low-rank adapter | float32 bfloat16
x, w = torch.randn(4, 16, dtype=T), torch.randn(16, 16, dtype=T)
a, b = torch.randn(16, 2, dtype=T, requires_grad=True), torch.zeros(2, 16, dtype=T, requires_grad=True)
(x @ w + 0.5 * (x @ a @ b)).square().mean().backward()
# %% weight and spectral norm | float32
a = nn.utils.parametrizations.weight_norm(nn.Linear(6, 4))
a(torch.randn(3, 6)).sum().backward()
b = nn.utils.parametrizations.spectral_norm(nn.Linear(6, 4))
b(torch.randn(3, 6)).sum().backward()
# %% averaged weights | float32 bfloat16
a, b = nn.Linear(4, 4, dtype=T), nn.Linear(4, 4, dtype=T)
with torch.no_grad():
    for x, y in zip(a.parameters(), b.parameters()):
        x.mul_(0.99).add_(y, alpha=0.01)
        x.lerp_(y, 0.1)
# %% gradient accumulation | float32 bfloat16
layer = nn.Linear(6, 3, dtype=T)
for _ in range(3):
    (layer(torch.randn(4, 6, dtype=T)).square().mean() / 3).backward()
# %% gradient penalty | float32
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(6, 4, requires_grad=True)
g, = torch.autograd.grad(net(x).sum(), x, create_graph=True)
((g.norm(dim=1) - 1) ** 2).mean().backward()
# %% Jacobian and Hessian | float32
from torch.func import hessian, jacrev, jvp, vjp
f = lambda x: torch.sin(x).sum() * x.prod()
x = torch.rand(4) + 0.5
jacrev(torch.cos)(x), hessian(f)(x), jvp(f, (x,), (torch.ones(4),)), vjp(f, x)[1](torch.tensor(1.0))
# %% an ensemble by vmap | float32
from torch.func import functional_call, stack_module_state, vmap
nets = [nn.Linear(4, 2) for _ in range(3)]
params, buffers = stack_module_state(nets)
vmap(lambda p, b, x: functional_call(nets[0], (p, b), (x,)), (0, 0, None))(params, buffers, torch.randn(5, 4))
# %% a function with a gradient of one's own | float32 bfloat16
class Clip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(-1, 1)
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * (x.abs() < 2).to(g.dtype)
x = torch.randn(20, dtype=T, requires_grad=True)
Clip.apply(x * 2).sum().backward()
# %% hooks | float32
layer = nn.Linear(4, 4)
layer.register_forward_hook(lambda m, i, o: o * 2)
layer.weight.register_hook(lambda g: g.clamp(-0.1, 0.1))
layer(torch.randn(3, 4)).sum().backward()
# %% reentrant checkpointing | float32
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
x = torch.randn(4, 8, requires_grad=True)
checkpoint(net, x, use_reentrant=True).sum().backward()
checkpoint_sequential(net, 2, x, use_reentrant=False).sum().backward()
# %% inference mode | float32 bfloat16
net = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 2)).to(T)
with torch.inference_mode():
    y = net(torch.randn(4, 8, dtype=T))
    y[0] = 0
    y.add_(1)
# %% mixed precision of a transformer | float32
layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
with torch.autocast('cpu', dtype=torch.bfloat16):
    y = layer(torch.randn(2, 6, 16))
y.float().square().mean().backward()
# %% scaled gradients | float32
scaler = torch.amp.GradScaler('cpu')
layer = nn.Linear(4, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
scaler.scale(layer(torch.randn(3, 4)).sum()).backward()
scaler.step(optimizer)
scaler.update()
# %% float64 by default | float32
torch.set_default_dtype(torch.float64)
try:
    net = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 1))
    net(torch.randn(5, 6)).sum().backward()
finally:
    torch.set_default_dtype(torch.float32)
# %% mixed types | float32 bfloat16 float16
x = torch.randn(10, dtype=T)
x + torch.arange(10), x * torch.randn(10, dtype=torch.float64), x > torch.arange(10), x + torch.tensor(0.1)
# %% broadcasting | float32 bfloat16 float16 complex64
a, b = torch.randn(5, 1, 4, dtype=T), torch.randn(3, 1, dtype=T)
a + b, a * b, a - torch.tensor(2.0, dtype=T), (a / (b + 3)).shape
# %% empty tensors | float32 bfloat16 complex64
x = torch.zeros(0, 4, dtype=T)
x.sum(), x.sum(0), x @ torch.ones(4, 2, dtype=T), torch.cat([x, torch.ones(2, 4, dtype=T)]), x.mean(1), x.prod(0)
# %% strides of all kinds | float32 bfloat16
x = torch.randn(8, 10, dtype=T)
x[::2, ::3].exp(), x.T.softmax(0), x.flip(1)[:, 1:].cumsum(1), x.expand(2, 8, 10).sum((0, 2)), x.T[2:4] @ x[:, 1:3]
# %% channels last | float32 bfloat16
x = torch.randn(2, 4, 8, 8, dtype=T).to(memory_format=torch.channels_last)
net = nn.Sequential(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)).to(T, memory_format=torch.channels_last)
net(x).square().mean().backward()
# %% in place on an own slice | float32 bfloat16
x = torch.randn(10, dtype=T)
x[1:] += x[:-1].clone()
x[x < 0] *= -1
x.clamp_(max=1).sqrt_()
# %% out arguments | float32 bfloat16
a, out = torch.randn(4, 4, dtype=T), torch.empty(4, 4, dtype=T)
torch.mm(a, a, out=out)
torch.add(a, 1, out=out)
torch.cumsum(a, 0, out=out)
# %% mesh and polynomial | float32
x, y = torch.meshgrid(torch.linspace(-1, 1, 8), torch.linspace(-1, 1, 8), indexing='ij')
(x ** 3 - 2 * x * y + y.pow(2)), torch.vander(x[:, 0], 4), torch.trapezoid(x[:, 0] ** 2, x[:, 0])
# %% differences and gradients of data | float32
x = torch.randn(30).cumsum(0)
x.diff(), torch.gradient(x)[0], x.unfold(0, 5, 1).mean(1), F.avg_pool1d(x[None, None], 5, 1)
# %% quantiles | float32
x = torch.randn(101)
x.quantile(0.3), x.median(), x.nanmean(), x.mode(), torch.histc(x, 5), torch.std_mean(x), torch.var_mean(x)
# %% covariance and correlation | float32
x = torch.randn(4, 50)
torch.cov(x), torch.corrcoef(x)
# %% Kronecker and other products | float32 complex64
a = torch.randn(3, 3, dtype=T)
torch.kron(a, a), torch.cross(a, a.roll(1, 0), dim=1), torch.tensordot(a, a, 1), a.trace(), torch.block_diag(a, a)
# %% matrix functions | float32
a = torch.randn(5, 5) / 5
torch.linalg.matrix_exp(a), torch.linalg.slogdet(a + torch.eye(5)), torch.linalg.matrix_norm(a), torch.logdet(a @ a.T + torch.eye(5))
# %% Cholesky and triangular solving | float32
a = torch.randn(8, 8)
l = torch.linalg.cholesky(a @ a.T + 8 * torch.eye(8))
torch.linalg.solve_triangular(l, torch.randn(8, 2), upper=False), torch.cholesky_solve(torch.randn(8, 1), l), torch.cholesky_inverse(l)
# %% Gaussian log-likelihood | float32
d = torch.distributions.MultivariateNormal(torch.zeros(3), torch.eye(3) * 2)
d.log_prob(torch.randn(10, 3)), torch.distributions.Normal(0.0, 1.0).cdf(torch.randn(5)), torch.distributions.Beta(2.0, 3.0).log_prob(torch.rand(5))
# %% spectrogram | float32
x = torch.randn(400)
s = torch.stft(x, 64, window=torch.hann_window(64), return_complex=True)
s.abs().square().clamp(min=1e-9).log10(), torch.fft.fftshift(torch.fft.fftfreq(16))
# %% filtering by FFT | float32
x, k = torch.randn(128), torch.randn(9)
torch.fft.irfft(torch.fft.rfft(x, 136) * torch.fft.rfft(k, 136))[:136]
# %% colours and affine grids | float32
x = torch.rand(1, 3, 8, 8)
grey = (x * torch.tensor([0.299, 0.587, 0.114]).view(3, 1, 1)).sum(1)
F.grid_sample(x, F.affine_grid(torch.eye(2, 3)[None], (1, 3, 8, 8), align_corners=False), align_corners=False)
# %% pixel shuffle and patches | float32 bfloat16
x = torch.randn(1, 8, 4, 4, dtype=T)
F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2), x.unfold(2, 2, 2).unfold(3, 2, 2).reshape(1, -1, 4)
# %% pooling of other shapes | float32 bfloat16
x = torch.randn(1, 2, 9, 9, dtype=T, requires_grad=True)
(F.lp_pool2d(x.abs() + 0.1, 2, 3).sum() + F.max_pool2d(x, (3, 2), stride=1).sum() + F.avg_pool2d(x, 3, count_include_pad=False, padding=1).sum()).backward()
# %% pooling of sequences and volumes | float32
x = torch.randn(1, 2, 12, requires_grad=True)
(F.max_pool1d(x, 3).sum() + F.avg_pool1d(x, 4).sum() + F.adaptive_max_pool1d(x, 5).sum()).backward()
F.max_pool3d(torch.randn(1, 1, 6, 6, 6), 2), F.avg_pool3d(torch.randn(1, 1, 6, 6, 6), 3)
# %% unpooling | float32
y, i = F.max_pool2d(torch.randn(1, 1, 6, 6), 2, return_indices=True)
F.max_unpool2d(y, i, 2)
# %% local response norm | float32
F.local_response_norm(torch.randn(1, 6, 5, 5), 3)
# %% more activations | float32 bfloat16
x = torch.randn(100, dtype=T, requires_grad=True)
for f in (F.selu, F.celu, F.relu6, F.hardtanh, F.hardsigmoid, F.softsign, F.tanhshrink, F.softshrink, F.hardshrink, F.threshold):
    (f(x, 0.1, 0.0) if f is F.threshold else f(x)).sum().backward()
# %% parametric activations | float32 bfloat16
net = nn.Sequential(nn.PReLU(), nn.RReLU(0.1, 0.1)).to(T)
net(torch.randn(20, dtype=T)).sum().backward()
# %% dropout of channels | float32
x = torch.randn(2, 4, 6, 6, requires_grad=True)
(F.dropout2d(x, 0.5).sum() + F.alpha_dropout(x, 0.2).sum() + F.feature_alpha_dropout(x, 0.2).sum()).backward()
# %% packed sequences | float32
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
x = pad_sequence([torch.randn(5, 3), torch.randn(2, 3)], batch_first=True)
p = pack_padded_sequence(x, [5, 2], batch_first=True)
pad_packed_sequence(p, batch_first=True)
# %% a cell of a recurrent network | float32
for cell in (nn.RNNCell(4, 6), nn.GRUCell(4, 6)):
    h = torch.zeros(2, 6)
    for _ in range(3):
        h = cell(torch.randn(2, 4), h)
    h.sum().backward()
# %% bilinear layer and similarity | float32
nn.Bilinear(3, 4, 2)(torch.randn(5, 3), torch.randn(5, 4)).sum().backward()
a = F.normalize(torch.randn(6, 8), dim=1)
a @ a.T
# %% optimizers of other kinds | float32
for kind in (torch.optim.Adadelta, torch.optim.Adamax, torch.optim.NAdam, torch.optim.RAdam, torch.optim.ASGD, torch.optim.Rprop):
    layer = nn.Linear(4, 2)
    optimizer = kind(layer.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        layer(torch.randn(3, 4)).square().mean().backward()
        optimizer.step()
# %% LBFGS | float32
w = torch.randn(4, requires_grad=True)
optimizer = torch.optim.LBFGS([w], max_iter=4)
def closure():
    optimizer.zero_grad()
    loss = (w - 1).square().sum()
    loss.backward()
    return loss
optimizer.step(closure)
# %% schedules and clipping | float32
layer = nn.Linear(4, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, nesterov=True, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
for _ in range(3):
    layer(torch.randn(3, 4)).sum().backward()
    nn.utils.clip_grad_value_(layer.parameters(), 0.5)
    optimizer.step()
    schedule.step()
# %% initialising | float32
w = torch.empty(6, 6)
for f in (nn.init.xavier_uniform_, nn.init.kaiming_normal_, nn.init.zeros_, nn.init.eye_, nn.init.trunc_normal_):
    f(w)
w.mul_(2).add_(1)
# %% views of other types | float32
x = torch.randn(8)
x.view(torch.int32) & 0x7F800000, x.view(torch.uint8)[:4], torch.frexp(x), x.signbit(), torch.nextafter(x, x + 1)
# %% sets and searching | float32
x = torch.randint(0, 20, (40,))
torch.unique(x, return_inverse=True, return_counts=True), torch.isin(x, torch.tensor([1, 2])), torch.searchsorted(x.sort().values, x), torch.unique_consecutive(x)
# %% selecting with masks | float32 bfloat16
x = torch.randn(6, 6, dtype=T)
x.masked_select(x > 0), x.masked_scatter(x > 0, torch.ones(36, dtype=T)), x.nonzero(), torch.where(x > 0), x.take(torch.tensor([0, 7, 35]))
# %% strings of values | float32
x = torch.randn(3, 4)
x.tolist(), str(x), x.sum().item(), float(x[0, 0]), bool((x > 9).any()), x.numpy().sum(), len(x)
# %% distances of other norms | float32
a, b = torch.randn(6, 3), torch.randn(5, 3)
torch.cdist(a, b, p=1.0), torch.cdist(a, b, p=3.0), F.pdist(a), torch.dist(a[0], b[0], 3)
# %% special functions | float32
x = torch.rand(50) + 0.1
torch.special.i0(x), torch.special.entr(x), torch.special.xlogy(x, x), torch.erfinv(x - 0.6), torch.special.ndtr(x), torch.sinc(x), torch.logit(x / 2), torch.special.log_ndtr(x)
# %% logarithms of sums | float32
a, b = torch.randn(20), torch.randn(20)
torch.logaddexp(a, b), torch.logaddexp2(a, b), torch.logcumsumexp(a, 0), torch.hypot(a, b), torch.atan2(a, b)
# %% small numbers of two kinds | float32 bfloat16 float16
x = torch.rand(50).to(T)
torch.maximum(x, x.flip(0)), torch.fmin(x, x.roll(1)), x.lerp(x.flip(0), 0.3), torch.addcmul(x, x, x, value=0.5), torch.addcdiv(x, x, x + 1), x.clip(0.2, 0.8)
# %% counting from a large start | float32
i = torch.arange(2**31 - 5, 2**31 + 5)
i.sum(), i * i, i % 7, i.float(), i.to(torch.int32)
# %% large sums of constants | float32 bfloat16 float16
torch.full((100000,), 0.1, dtype=T).sum(), torch.full((300, 300), 0.1, dtype=T).mean(0), torch.full((64, 4096), 0.01, dtype=T) @ torch.full((4096, 8), 0.3, dtype=T)
