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
