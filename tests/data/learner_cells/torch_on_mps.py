# %% 01 tensors
import torch, time
dev = 'mps' if torch.backends.mps.is_available() else 'cpu'
a = torch.arange(12., device=dev).reshape(3, 4)
b = a @ a.T + torch.eye(3, device=dev)
for _ in range(60):
    m = torch.randn(1200, 1200, device=dev) @ torch.randn(1200, 1200, device=dev)
b
# %% 02 autograd
w = torch.randn(2000, 500, requires_grad=True, device=dev)
x = torch.randn(256, 2000, device=dev)
for _ in range(60):
    loss = ((x @ w).tanh() ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
float(loss)
# %% 03 CNN trained
import torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
X = torch.randn(1024, 1, 28, 28); Y = torch.randint(0, 10, (1024,))
class CNN(nn.Module):
    def __init__(s):
        super().__init__()
        s.c1 = nn.Conv2d(1, 16, 3, padding=1); s.c2 = nn.Conv2d(16, 32, 3, padding=1); s.f = nn.Linear(32*7*7, 10)
    def forward(s, x):
        x = F.max_pool2d(F.relu(s.c1(x)), 2); x = F.max_pool2d(F.relu(s.c2(x)), 2)
        return s.f(x.flatten(1))
cnn = CNN().to(dev); opt = torch.optim.Adam(cnn.parameters())
for epoch in range(3):
    for i in range(0, 1024, 64):
        xb, yb = X[i:i+64].to(dev), Y[i:i+64].to(dev)
        opt.zero_grad(); l = F.cross_entropy(cnn(xb), yb); l.backward(); opt.step()
print(l.item())
# %% 04 transformer trained
enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 256, batch_first=True), 2).to(dev)
head = nn.Linear(128, 50).to(dev); emb = nn.Embedding(50, 128).to(dev)
opt = torch.optim.AdamW([*enc.parameters(), *head.parameters(), *emb.parameters()])
tok = torch.randint(0, 50, (32, 64), device=dev)
mask = nn.Transformer.generate_square_subsequent_mask(64, device=dev)
for step in range(30):
    out = head(enc(emb(tok), mask=mask, is_causal=True))
    l = F.cross_entropy(out[:, :-1].reshape(-1, 50), tok[:, 1:].reshape(-1)); opt.zero_grad(); l.backward(); opt.step()
print(l.item())
# %% 05 DataLoader with workers
from torch.utils.data import DataLoader, Dataset, TensorDataset
class Slow(Dataset):
    def __len__(s): return 256
    def __getitem__(s, i):
        time.sleep(0.004); return X[i % 1024], Y[i % 1024]
dl = DataLoader(TensorDataset(X, Y), batch_size=64, num_workers=2)
n = 0
for xb, yb in dl:
    n += len(cnn(xb.to(dev)))
print(n)
# %% 06 DataLoader slow in the main process
for xb, yb in DataLoader(Slow(), batch_size=32):
    opt.zero_grad(); F.cross_entropy(cnn(xb.to(dev)), yb.to(dev)).backward()
# %% 08 .item() in loops
tot = 0.0
v = torch.randn(200000, device=dev)
for i in range(200000):
    tot += v[i].item()
tot
# %% 09 no_grad inference
cnn.eval()
Xd, Yd = X.to(dev), Y.to(dev)
with torch.no_grad():
    for _ in range(6):
        p = cnn(Xd).argmax(1)
(p == Yd).float().mean()
# %% 10 AMP autocast on MPS
big = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024)).to(dev)
with torch.autocast('mps', dtype=torch.bfloat16):
    for _ in range(20):
        o = big(torch.randn(256, 1024, device=dev)); o.float().sum().backward()
o.dtype
# %% 11 save and load
torch.save(cnn.state_dict(), 'scratch_cnn.pt')
cnn2 = CNN().to(dev); cnn2.load_state_dict(torch.load('scratch_cnn.pt', weights_only=True, map_location=dev))
# %% 12 einsum
q = torch.randn(8, 8, 256, 64, device=dev); k = torch.randn(8, 8, 256, 64, device=dev)
for _ in range(30):
    att = torch.einsum('bhqd,bhkd->bhqk', q, k).softmax(-1)
att.shape
# %% 13 scatter gather
idx = torch.randint(0, 1000, (500000,), device=dev)
for _ in range(40):
    agg = torch.zeros(1000, 16, device=dev).scatter_add_(0, idx[:, None].expand(-1, 16), torch.ones(500000, 16, device=dev))
g = agg.gather(0, torch.zeros(5, 16, dtype=torch.long, device=dev))
# %% 14 LSTM
lstm = nn.LSTM(64, 128, batch_first=True).to(dev); xs = torch.randn(32, 100, 64, device=dev)
for _ in range(8):
    o, (h, c) = lstm(xs); o.sum().backward()
# %% 15 hooks
acts = {}
h1 = cnn.c1.register_forward_hook(lambda m, i, o: acts.__setitem__('c1', o.detach()))
cnn(Xd[:64]); h1.remove(); acts['c1'].shape
# %% 16 vmap and grad
from torch.func import vmap, grad, functional_call
params = dict(cnn.named_parameters())
def loss1(p, x, y): return F.cross_entropy(functional_call(cnn, p, (x[None],)), y[None])
gs = vmap(grad(loss1), in_dims=(None, 0, 0))(params, Xd[:128], Yd[:128])
gs['f.weight'].shape
# %% 18 custom autograd Function
class Sq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(x); return x * x
    @staticmethod
    def backward(ctx, g): (x,) = ctx.saved_tensors; return 2 * x * g
z = torch.randn(3000, 3000, requires_grad=True, device=dev)
for _ in range(10): Sq.apply(z).sum().backward()
# %% 19 with torch.device('mps')
with torch.device('mps'):
    m3 = nn.Linear(4000, 4000)
m3.weight.device
# %% 20 out of memory tried
t = torch.empty(10**13, device=dev)
# %% 21 error of shapes
torch.randn(3, 4, device=dev) @ torch.randn(3, 4, device=dev)
# %% 22 device mps
net = CNN().to(torch.device('mps'))
# %% 23 model moved, data forgotten
net(X).shape
# %% 24 float64 numpy
import numpy as np
A = torch.from_numpy(np.random.rand(1500, 1500)).to(dev)
# %% 25 python loop over many tiny ops
t = torch.zeros(10, device=dev)
for i in range(50000):
    t = t + 1
# %% 26 leak
keep = []
for i in range(200):
    keep.append((cnn(Xd[:64]) ** 2).sum())
# %% 27 growing loss list with graph again
for i in range(200):
    keep.append((cnn(Xd[:64]) ** 2).sum())
# %% 28 model forgotten on the CPU
forgotten = CNN(); opt = torch.optim.Adam(forgotten.parameters())
for i in range(0, 1024, 64):
    opt.zero_grad(); F.cross_entropy(forgotten(X[i:i+64]), Y[i:i+64]).backward(); opt.step()
# %% 29 nothing of PyTorch
total = sum(i * i for i in range(3_000_000))
# %% 30 one number at the end
s = torch.zeros((), device=dev)
for _ in range(60):
    s = s + (torch.randn(1200, 1200, device=dev) @ torch.randn(1200, 1200, device=dev)).sum()
s.item()
# %% 31 DataLoader with a default device
torch.set_default_device('mps')
for xb, yb in DataLoader(TensorDataset(X, Y), batch_size=64, shuffle=True): pass
# %% 32 default device taken back
torch.set_default_device(None)
