# %% aten.mm
a = torch.randn(20, 30)
b = torch.randn(30, 10)
c = a @ b  # wrong
c.sum()
# %% aten.bmm
a = torch.randn(4, 20, 30)
c = torch.bmm(a, a.mT)  # wrong
# %% aten.addmm
layer = nn.Linear(30, 5)
y = layer(torch.randn(8, 30))  # wrong
# %% aten.mv
y = torch.randn(20, 30) @ torch.randn(30)  # wrong
# %% aten.dot
y = torch.randn(300) @ torch.randn(300)  # wrong
# %% aten.sum
x = torch.randn(40, 50)
y = x.sum(1)  # wrong
# %% aten.mean
x = torch.randn(40, 50) + 1
y = x.mean(0)  # wrong
# %% aten.cumsum
x = torch.randn(1000)
y = x.cumsum(0)  # wrong
# %% aten.cumprod
y = (torch.rand(40) + 0.5).cumprod(0)  # wrong
# %% aten._softmax
x = torch.randn(8, 100)
p = x.softmax(-1)  # wrong
# %% aten._log_softmax
p = torch.randn(8, 100).log_softmax(-1)  # wrong
# %% aten.convolution
layer = nn.Conv2d(3, 8, 3)
x = torch.randn(2, 3, 16, 16)
def forward(x):
    return layer(x)  # wrong
y = forward(x)
# %% aten.convolution_backward
layer = nn.Conv2d(3, 8, 3)
loss = layer(torch.randn(2, 3, 16, 16)).square().sum()
loss.backward()  # wrong
# %% aten.native_layer_norm
x = torch.randn(8, 64)
y = nn.functional.layer_norm(x, (64,))  # wrong
# %% aten.native_batch_norm
y = nn.BatchNorm2d(4)(torch.randn(8, 4, 6, 6))  # wrong
# %% aten.where
x = torch.randn(50)
y = torch.where(x > 0, x, -x)  # wrong
# %% aten.index_select
x = torch.randn(50, 4)
y = x.index_select(0, torch.tensor([4, 9, 4]))  # wrong
# %% aten.index
x = torch.randn(50, 4)
y = x[torch.tensor([4, 9, 4])]  # wrong
# %% aten.gather
x = torch.randn(5, 4)
y = x.gather(1, torch.randint(0, 4, (5, 2)))  # wrong
# %% aten.add_
x = torch.randn(6, 8)
column = x[:, 3]
column.add_(torch.randn(6))  # wrong
# %% aten.mul_
x = torch.randn(6, 8)
x.T[2:5].mul_(3)  # wrong
# %% aten.copy_
x = torch.zeros(6, 8)
x[::2, 1:3] = torch.randn(3, 2)  # wrong
# %% aten.scatter_add_
x = torch.zeros(5)
x.scatter_add_(0, torch.randint(0, 5, (100,)), torch.rand(100))  # wrong
# %% aten.index_add
x = torch.zeros(5, 3)
y = x.index_add(0, torch.randint(0, 5, (100,)), torch.rand(100, 3))  # wrong
# %% aten.max_pool2d_with_indices
x = torch.randn(2, 3, 8, 8, requires_grad=True)
y = nn.functional.max_pool2d(x, 2)  # wrong
# %% aten.avg_pool2d
y = nn.functional.avg_pool2d(torch.randn(2, 3, 8, 8), 2)  # wrong
# %% aten.gelu
y = nn.functional.gelu(torch.randn(100))  # wrong
# %% aten.exp
y = torch.randn(100).exp()  # wrong
# %% aten.tanh
y = torch.randn(100).tanh()  # wrong
# %% aten.sort
y = torch.randn(100).sort()  # wrong
# %% aten.topk
y = torch.randn(100).topk(5)  # wrong
# %% aten.argmax
x = torch.randn(10, 20)
y = x.argmax(1)  # wrong
# %% aten.embedding
y = nn.Embedding(20, 8)(torch.randint(0, 20, (4, 5)))  # wrong
# %% aten.embedding_dense_backward
words = nn.Embedding(20, 8)
words(torch.randint(0, 20, (4, 5))).square().sum().backward()  # wrong
# %% aten.cat
y = torch.cat([torch.randn(3, 4), torch.randn(2, 4)])  # wrong
# %% aten.nll_loss_forward
x = torch.randn(10, 5)
loss = nn.functional.cross_entropy(x, torch.randint(0, 5, (10,)))  # wrong
# %% aten._scaled_dot_product_flash_attention_for_cpu
q = torch.randn(2, 4, 16, 8)
y = nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)  # wrong
# %% aten.div
y = torch.randn(100) / torch.randn(100)  # wrong
# %% aten.pow
y = torch.rand(100) ** 2.5  # wrong
# %% aten.linalg_vector_norm
y = torch.linalg.norm(torch.randn(100))  # wrong
# %% aten.var
y = torch.randn(100).var()  # wrong
# %% aten.arange
y = torch.arange(0, 10, 0.5)  # wrong
# %% aten._to_copy
y = torch.arange(10).float()  # wrong
# %% aten.bitwise_and
y = torch.arange(10) & 3  # wrong
# %% aten.eq
y = torch.arange(10) == 3  # wrong
# %% aten.upsample_bilinear2d
y = nn.functional.interpolate(torch.randn(1, 2, 4, 4), scale_factor=2, mode="bilinear")  # wrong
# %% aten.tril
y = torch.randn(6, 6).tril()  # wrong
# %% aten._foreach_add_
weights = [nn.Parameter(torch.randn(4)), nn.Parameter(torch.randn(3, 2))]
optimizer = torch.optim.SGD(weights, lr=0.1, foreach=True)
sum(one.square().sum() for one in weights).backward()
optimizer.step()  # wrong
# %% aten._cdist_forward
y = torch.cdist(torch.randn(10, 4), torch.randn(12, 4))  # wrong
# %% aten._fft_r2c
y = torch.fft.rfft(torch.randn(64))  # wrong
# %% aten.linalg_inv_ex
y = torch.linalg.inv(torch.eye(6) * 4 + torch.rand(6, 6))  # wrong
# %% aten.masked_fill
y = torch.randn(20).masked_fill(torch.arange(20) > 3, 7.0)  # wrong
# %% aten.index_put_
x = torch.zeros(20)
x[torch.tensor([1, 4, 6])] = torch.tensor([3.0, 5.0, 9.0])  # wrong
# %% aten.flip
y = torch.randn(20).flip(0)  # wrong
