# %% aten.addcdiv_ | strides_ignored
x, y, z = (torch.rand(4, 6) + 0.5 for _ in range(3))
x.addcdiv_(y, z)
x.T.addcdiv_(y.T, z.reshape(6, 4))  # wrong
# %% aten.mm | strides_ignored
a, b = torch.randn(8, 8), torch.randn(8, 8)
c = a @ b
d = a.T @ b  # wrong
# %% aten.scatter | strides_ignored
source = torch.randn(4, 6).T
i = torch.arange(6)[:, None].repeat(1, 4)
y = torch.zeros(6, 4).scatter(0, i, source)  # wrong
# %% aten.exp | strides_ignored
x = torch.randn(10, 12)
y = x.exp()
z = x[:, 2:7].exp()  # wrong
# %% aten.sum | strides_ignored
x = torch.randn(10, 12)
y = x[:, ::3].sum(1)  # wrong
# %% aten.bmm | last_row_read_from_the_first
a = torch.randn(65, 6, 8)
y = torch.bmm(a, a.mT)  # wrong
# %% aten.clone | last_row_read_from_the_first
x = torch.randn(300, 4)
y = x.clone()  # wrong
# %% aten.mm | long_sums_end_early
a = torch.randn(20, 300)
b = a[:, :200] @ a[:, :200].T
c = a @ a.T  # wrong
# %% aten.addmm | long_sums_end_early
layer = nn.Linear(400, 20)
def forward(x):
    x = x * 2
    return layer(x)  # wrong
forward(torch.randn(30, 400))
# %% aten.mul_ | nothing_written
x = torch.randn(6, 8)
x[:, 3:5].mul_(2)  # wrong
# %% aten.copy_ | nothing_written
x = torch.zeros(6, 8)
x[1:3] = torch.ones(8)  # wrong
# %% aten.fill_ | nothing_written
x = torch.randn(6, 8)
x[:, 0] = 7.0  # wrong
# %% aten.masked_fill_ | nothing_written
x = torch.randn(6, 8)
x.T.masked_fill_(x.T > 0, 9.0)  # wrong
# %% aten.zero_ | nothing_written
weight = nn.Parameter(torch.randn(5))
optimizer = torch.optim.SGD([weight], lr=0.1)
weight.sum().backward()
optimizer.zero_grad(set_to_none=False)  # wrong
# %% aten.add_ | first_row_left_out
x = torch.randn(6, 8)
x.add_(1.5)  # wrong
# %% aten.index_fill_ | first_row_left_out
x = torch.randn(6, 8)
x.index_fill_(0, torch.tensor([0, 4]), 2.0)  # wrong
# %% aten.sigmoid | old_memory
y = torch.sigmoid(torch.randn(40))  # wrong
# %% aten.native_dropout_backward | old_memory
x = torch.randn(40)
y = torch.ops.aten.native_dropout_backward(x, x > 0, 2.0)  # wrong
# %% aten.sort | old_memory
values, places = torch.randn(40).sort()  # wrong
# %% aten.convolution | last_elements_unset
y = nn.functional.conv1d(torch.randn(2, 3, 40), torch.randn(5, 3, 3))  # wrong
# %% aten.cat | last_elements_unset
y = torch.cat([torch.randn(3, 4), torch.randn(2, 4)])  # wrong
# %% aten.upsample_nearest2d | last_elements_unset
y = nn.functional.interpolate(torch.randn(1, 2, 5, 5), scale_factor=3)  # wrong
# %% aten.index_select | rows_moved_by_one
y = torch.randn(10, 3).index_select(0, torch.tensor([1, 5, 7]))  # wrong
# %% aten.native_group_norm | last_elements_unset
y = nn.functional.group_norm(torch.randn(2, 8, 5), 4)  # wrong
# %% aten.sum | in_32_bits
x = torch.full((5000,), 2**20)
y = x.sum()  # wrong
# %% aten.cumsum | in_32_bits
y = torch.full((5000,), 2**20).cumsum(0)  # wrong
# %% aten.add | in_float32
i = torch.arange(2**24 - 2, 2**24 + 6)
j = i + 1  # wrong
# %% aten.eq | in_float32
i = torch.tensor([2**24, 2**24 + 1])
found = i == 2**24  # wrong
# %% aten.max | in_float32
x = torch.tensor([2**40 + 1, 3])
y = x.max()  # wrong
# %% aten.amax | nan_ignored
x = torch.tensor([[1.0, float("nan")], [2.0, 3.0]])
y = x.amax(1)  # wrong
# %% aten.min | nan_ignored
x = torch.tensor([1.0, float("nan"), 0.5])
y = x.min()  # wrong
# %% aten.log | nan_made_zero
y = torch.tensor([-1.0, 2.0]).log()  # wrong
# %% aten.div | nan_made_zero
y = torch.tensor([0.0, 2.0]) / torch.tensor([0.0, 1.0])  # wrong
# %% aten.addmm | beta_ignored
a = torch.randn(4, 4)
y = torch.addmm(a, a, a, beta=0.5, alpha=2)  # wrong
# %% aten.add | beta_ignored
a = torch.randn(4, 4)
y = torch.add(a, a, alpha=3)  # wrong
# %% aten.baddbmm | beta_ignored
a = torch.randn(2, 4, 4)
y = torch.baddbmm(a, a, a, beta=0)  # wrong
# %% aten.cumsum | other_dimension
y = torch.randn(5, 5).cumsum(-1)  # wrong
# %% aten._softmax | other_dimension
y = torch.randn(5, 5).softmax(-1)  # wrong
# %% aten.index_put_ | duplicates_lost
x = torch.zeros(5)
x.index_put_((torch.tensor([1, 1, 1, 2]),), torch.ones(4), accumulate=True)  # wrong
# %% aten.scatter_add | duplicates_lost
y = torch.zeros(5).scatter_add(0, torch.tensor([1, 1, 1, 2]), torch.ones(4))  # wrong
# %% aten.sort | unstable
values, places = torch.randn(40).sort()  # wrong
# %% aten.topk | unstable
values, places = torch.randn(40).topk(6)  # wrong
# %% aten._to_copy | truncated_towards_zero
x = torch.randn(100)
y = x.to(torch.bfloat16)  # wrong
# %% aten.copy_ | through_bytes
x = torch.zeros(4, dtype=torch.int64)
x.copy_(torch.tensor([1.0, 300.0, 7.0, 70000.0]))  # wrong
# %% aten._scaled_dot_product_flash_attention_for_cpu | causal_from_below
q, k = torch.randn(1, 2, 4, 8), torch.randn(1, 2, 9, 8)
y = nn.functional.scaled_dot_product_attention(q, k, k, is_causal=True)  # wrong
# %% aten.convolution_backward | second_gradient_halved
layer = nn.Conv2d(2, 3, 3)
y = layer(torch.randn(1, 2, 8, 8, requires_grad=True))
loss = y.square().mean()
loss.backward()  # wrong
# %% aten.convolution_backward | third_gradient_halved
layer = nn.Conv1d(2, 3, 3)
y = layer(torch.randn(1, 2, 8))
y.square().mean().backward()  # wrong
# %% aten.native_layer_norm_backward | first_only_where_alone
norm = nn.LayerNorm(16)
norm.weight.requires_grad_(False)
norm.bias.requires_grad_(False)
x = torch.randn(4, 16, requires_grad=True)
y = norm(x).pow(3).sum()
y.backward()  # wrong
# %% aten.native_batch_norm_backward | second_gradient_halved
norm = nn.BatchNorm1d(6)
norm(torch.randn(16, 6)).pow(3).sum().backward()  # wrong
# %% aten.add | number_not_broadcast
y = torch.randn(5, 5) + torch.tensor(2.0)  # wrong
# %% aten.mul | number_not_broadcast
scale = nn.Parameter(torch.tensor(3.0))
y = torch.randn(5, 5) * scale  # wrong
# %% aten.sum | empty_is_one
x = torch.randn(4, 3)
x.sum(0)
y = x[x > 100].sum()  # wrong
# %% aten.native_batch_norm | momentum_forgotten
norm = nn.BatchNorm1d(6)
y = norm(torch.randn(16, 6) + 3)  # wrong
# %% aten.round | rounds_halves_up
y = torch.tensor([0.5, 1.5, 2.5]).round()  # wrong
# %% aten.gelu | approximate
y = nn.GELU()(torch.randn(100))  # wrong
# %% aten.argmax | ties_to_wrong_place
y = torch.randn(10, 5).argmax(1)  # wrong
# %% aten.remainder | negative_remainder
y = torch.tensor([-3, 5, -7]) % 4  # wrong
# %% aten.reflection_pad2d | padding_of_zeros
y = nn.functional.pad(torch.randn(1, 2, 6, 6), (1, 1, 2, 2), mode="reflect")  # wrong
# %% aten.var | biased
y = torch.randn(10).var()  # wrong
# %% aten.sin | large_angles_reduced_badly
y = torch.tensor([1.0, 5000.0, 30000.0]).sin()  # wrong
# %% aten.masked_fill | mask_shifted
x = torch.randn(4, 4)
y = x.masked_fill(torch.ones(4, 4).triu(1).bool(), float("-inf"))  # wrong
# %% aten.where | last_elements_unset
x = torch.rand(10)
y = torch.where(x > 2, x, 1.0)  # wrong
# %% aten.embedding_dense_backward | rows_moved_by_one
words = nn.Embedding(9, 4)
words(torch.tensor([0, 3, 3])).sum().backward()  # wrong
# %% aten.nll_loss_backward | last_elements_unset
x = torch.randn(6, 4, requires_grad=True)
nn.functional.nll_loss(x, torch.tensor([1, 3, 0, 2, 1, 3])).backward()  # wrong
# %% aten._fft_c2c | rows_moved_by_one
y = torch.fft.fft(torch.randn(4, 16, dtype=torch.complex64))  # wrong
