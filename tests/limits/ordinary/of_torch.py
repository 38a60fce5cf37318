"""Cells in the manner of PyTorch's tutorials."""

from __future__ import annotations

from tests.limits.ordinary.cell import Ordinary

MODEL = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset, TensorDataset
    torch.manual_seed(0)
    images, labels = torch.rand(2_000, 1, 28, 28), torch.arange(2_000) % 10

    def network():
        return nn.Sequential(
            nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
        )

    def train(loader, model, optimizer):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.item()

    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
"""

ORDINARY = (
    Ordinary(
        id="torch-import-and-tensors",
        framework="torch",
        code="""
            import torch
            tensor = torch.ones(4, 4)
            tensor[:, 1] = 0
            print(tensor @ tensor.T, tensor.sum().item(), torch.cat([tensor, tensor], dim=1).shape)
        """,
    ),
    Ordinary(
        id="torch-polynomial-by-hand",
        framework="torch",
        before=["import math\nimport torch\nx = torch.linspace(-math.pi, math.pi, 2_000)\ny = torch.sin(x)"],
        code="""
            a, b, c, d = (torch.randn((), requires_grad=True) for _ in range(4))
            for step in range(2_000):
                loss = (a + b * x + c * x**2 + d * x**3 - y).pow(2).sum()
                loss.backward()
                with torch.no_grad():
                    for weight in (a, b, c, d):
                        weight -= 1e-6 * weight.grad
                        weight.grad = None
            print(loss.item())
        """,
    ),
    Ordinary(
        id="torch-quickstart-epoch",
        framework="torch",
        before=[MODEL],
        code="""
            loader = DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True)
            for epoch in range(3):
                print(epoch, train(loader, model, optimizer))
        """,
    ),
    Ordinary(
        id="torch-test-loop",
        framework="torch",
        before=[MODEL],
        code="""
            model.eval()
            correct = 0
            with torch.no_grad():
                for repeat in range(10):
                    for x, y in DataLoader(TensorDataset(images, labels), batch_size=250):
                        correct += (model(x).argmax(1) == y).type(torch.float).sum().item()
            print(correct)
        """,
    ),
    Ordinary(
        id="torch-own-dataset-with-transforms",
        framework="torch",
        before=[
            MODEL,
            """
            class Noisy(Dataset):
                def __len__(self):
                    return 2_000

                def __getitem__(self, index):
                    image = images[index].flip(-1) if index % 2 else images[index]
                    image = image + 0.1 * torch.randn_like(image)
                    return (image - image.mean()) / image.std(), labels[index]
            """,
        ],
        code="""
            for epoch in range(3):
                print(train(DataLoader(Noisy(), batch_size=64, shuffle=True), model, optimizer))
        """,
    ),
    Ordinary(
        id="torch-loader-with-workers",
        framework="torch",
        before=[MODEL],
        code="""
            loader = DataLoader(TensorDataset(images, labels), batch_size=64, num_workers=2)
            print(train(loader, model, optimizer))
        """,
    ),
    Ordinary(
        id="torch-convolutional-classifier",
        framework="torch",
        before=[
            MODEL,
            """
            model = nn.Sequential(
                nn.Conv2d(1, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                nn.Conv2d(16, 32, 5), nn.ReLU(), nn.MaxPool2d(2),
                nn.Flatten(), nn.Linear(32 * 16, 10),
            )
            optimizer = torch.optim.Adam(model.parameters())
            """,
        ],
        code="print(train(DataLoader(TensorDataset(images, labels), batch_size=32), model, optimizer))",
    ),
    Ordinary(
        id="torch-names-by-letters",
        framework="torch",
        before=[
            """
            import string
            import torch
            from torch import nn
            letters = string.ascii_letters
            names = ["Satoshi", "Abarca", "Wagner", "Oleary", "Kowalski", "Nguyen"] * 20
            rnn, out = nn.RNN(len(letters), 64), nn.Linear(64, 6)
            optimizer = torch.optim.SGD([*rnn.parameters(), *out.parameters()], lr=0.01)

            def to_tensor(name):
                tensor = torch.zeros(len(name), 1, len(letters))
                for position, letter in enumerate(name):
                    tensor[position][0][letters.find(letter)] = 1
                return tensor
            """,
        ],
        code="""
            for epoch in range(10):
                for number, name in enumerate(names):
                    _, hidden = rnn(to_tensor(name))
                    loss = nn.functional.cross_entropy(out(hidden[0]), torch.tensor([number % 6]))
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
        """,
        getters=("to_tensor",),
    ),
    Ordinary(
        id="torch-transformer-encoder",
        framework="torch",
        before=[
            """
            import torch
            from torch import nn
            layer = nn.TransformerEncoderLayer(d_model=128, nhead=4, dim_feedforward=256, batch_first=True)
            encoder = nn.TransformerEncoder(layer, num_layers=3)
            tokens = torch.rand(16, 64, 128)
            """,
        ],
        code="""
            for step in range(8):
                loss = encoder(tokens).square().mean()
                encoder.zero_grad()
                loss.backward()
            print(loss.item())
        """,
    ),
    Ordinary(
        id="torch-generative-network",
        framework="torch",
        before=[
            MODEL,
            """
            generator = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 784), nn.Sigmoid())
            critic = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))
            ours = torch.optim.Adam(generator.parameters())
            theirs = torch.optim.Adam(critic.parameters())
            loss_of = nn.BCEWithLogitsLoss()
            """,
        ],
        code="""
            for real in images.flatten(1).repeat(4, 1).split(64):
                fake = generator(torch.randn(len(real), 64))
                loss = loss_of(critic(real), torch.ones(len(real), 1))
                loss = loss + loss_of(critic(fake.detach()), torch.zeros(len(real), 1))
                theirs.zero_grad()
                loss.backward()
                theirs.step()
                loss = loss_of(critic(fake), torch.ones(len(real), 1))
                ours.zero_grad()
                loss.backward()
                ours.step()
        """,
    ),
    Ordinary(
        id="torch-compile-beside-eager",
        framework="torch",
        before=[MODEL, "import time"],
        code="""
            compiled = torch.compile(model, backend="aot_eager")
            for name, one in (("eager", model), ("compiled", compiled)):
                begun = time.perf_counter()
                for step in range(10):
                    one(images[:256]).sum().backward()
                print(name, time.perf_counter() - begun)
        """,
    ),
    Ordinary(
        id="torch-save-and-load",
        framework="torch",
        before=[MODEL, "import tempfile\nfolder = tempfile.mkdtemp()"],
        code="""
            for number in range(60):
                torch.save(model.state_dict(), f"{folder}/{number}.pt")
                model.load_state_dict(torch.load(f"{folder}/{number}.pt", weights_only=True))
        """,
    ),
    Ordinary(
        id="torch-losses-printed-in-pure-python",
        framework="torch",
        before=[MODEL],
        code="""
            history = []
            for step in range(150):
                loss = nn.functional.cross_entropy(model(images[:32]), labels[:32])
                history.append(loss.item())
                average = sum(history[-50:]) / len(history[-50:])
                if step % 10 == 0:
                    print(f"{step:4d} {loss.item():.3f} {average:.3f} {'#' * int(10 * average)}")
        """,
    ),
    Ordinary(
        id="torch-nearest-neighbours",
        framework="torch",
        before=[MODEL],
        code="""
            flat = images.flatten(1)
            for metric in (1.0, 2.0):
                distances = torch.cdist(flat, flat, p=metric)
            nearest = distances.topk(6, largest=False).indices[:, 1:]
            print((labels[nearest].mode(dim=1).values == labels).float().mean())
        """,
    ),
)
