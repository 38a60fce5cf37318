"""Cells in the manner of TensorFlow's guides: tensors, gradients, functions, pipelines, own loops."""

from __future__ import annotations

from tests.limits.ordinary.cell import Ordinary

IMPORT = "import numpy as np\nimport tensorflow as tf"

ORDINARY = (
    Ordinary(
        id="tf-tensors-and-shapes",
        framework="tensorflow",
        before=[IMPORT],
        code="""
            a = tf.reshape(tf.range(24.0), (2, 3, 4))
            b = tf.ones((2, 4, 5))
            for axis in range(3):
                print(tf.reduce_sum(a, axis=axis).shape)
            print(tf.matmul(a, b).shape, tf.transpose(a, (2, 0, 1)).shape)
            big = tf.random.normal((2_000, 2_000))
            print(float(tf.reduce_mean(tf.matmul(big, big, transpose_b=True))))
        """,
    ),
    Ordinary(
        id="tf-linear-regression-from-scratch",
        framework="tensorflow",
        before=[
            IMPORT,
            """
            x = tf.random.normal((1_000,), seed=1)
            y = 3.0 * x + 2.0 + tf.random.normal((1_000,), seed=2)
            w, b = tf.Variable(5.0), tf.Variable(0.0)
            """,
        ],
        code="""
            for epoch in range(300):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(w * x + b - y))
                dw, db = tape.gradient(loss, [w, b])
                w.assign_sub(0.1 * dw)
                b.assign_sub(0.1 * db)
            print(w.numpy(), b.numpy(), loss.numpy())
        """,
    ),
    Ordinary(
        id="tf-eager-beside-a-function",
        framework="tensorflow",
        before=[IMPORT, "import timeit\nx = tf.random.normal((100, 100))"],
        code="""
            def power(x, y):
                result = tf.eye(100)
                for _ in range(y):
                    result = tf.matmul(x / 10, result)
                return result

            graph = tf.function(power)
            print("eager:", timeit.timeit(lambda: power(x, 100), number=20))
            print("graph:", timeit.timeit(lambda: graph(x, 100), number=20))
        """,
    ),
    Ordinary(
        id="tf-second-derivatives",
        framework="tensorflow",
        before=[IMPORT, "x = tf.Variable(tf.linspace(-2.0, 2.0, 201))"],
        code="""
            curves = []
            for repeat in range(60):
                with tf.GradientTape() as outer:
                    with tf.GradientTape() as inner:
                        y = tf.sin(x) * tf.exp(-(x**2))
                    first = inner.gradient(y, x)
                second = outer.gradient(first, x)
                curves.append(second.numpy())
        """,
    ),
    Ordinary(
        id="tf-jacobian-of-a-layer",
        framework="tensorflow",
        before=[
            IMPORT,
            "layer = tf.keras.layers.Dense(30, activation='relu')\nx = tf.random.normal((40, 20))",
        ],
        code="""
            with tf.GradientTape(persistent=True) as tape:
                y = layer(x)
            jacobian = tape.jacobian(y, layer.kernel)
            print(jacobian.shape, float(tf.norm(jacobian)))
        """,
    ),
    Ordinary(
        id="tf-data-pipeline-walked-through",
        framework="tensorflow",
        before=[IMPORT],
        code="""
            numbers = tf.data.Dataset.range(40_000)
            numbers = numbers.map(lambda n: tf.cast(n, tf.float32) ** 2).filter(lambda n: n % 2 == 0)
            numbers = numbers.shuffle(1_000).batch(16).prefetch(tf.data.AUTOTUNE)
            total = 0.0
            for batch in numbers:
                total += float(tf.reduce_sum(batch))
            print(total)
        """,
    ),
    Ordinary(
        id="tf-data-with-augmentation",
        framework="tensorflow",
        before=[
            IMPORT,
            """
            images = np.random.default_rng(0).random((600, 96, 96, 3), dtype="float32")

            def augment(image):
                image = tf.image.random_flip_left_right(image)
                image = tf.image.random_brightness(image, 0.2)
                image = tf.image.resize(image, (128, 128))
                return tf.image.random_crop(image, (96, 96, 3))
            """,
        ],
        code="""
            pipeline = tf.data.Dataset.from_tensor_slices(images).map(augment, tf.data.AUTOTUNE).batch(32)
            means = [float(tf.reduce_mean(batch)) for batch in pipeline]
        """,
    ),
    Ordinary(
        id="tf-own-training-loop",
        framework="tensorflow",
        before=[
            IMPORT,
            """
            rng = np.random.default_rng(0)
            x, y = rng.random((2_000, 28, 28, 1), dtype="float32"), rng.integers(0, 10, 2_000)
            batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2_000).batch(64)
            model = tf.keras.Sequential([
                tf.keras.Input((28, 28, 1)),
                tf.keras.layers.Conv2D(16, 3, activation="relu"),
                tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(64, activation="relu"),
                tf.keras.layers.Dense(10),
            ])
            loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            optimizer = tf.keras.optimizers.Adam()

            @tf.function
            def train_step(images, labels):
                with tf.GradientTape() as tape:
                    loss = loss_of(labels, model(images, training=True))
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                return loss
            """,
        ],
        code="""
            for images, labels in batches:
                loss = train_step(images, labels)
            print(float(loss))
        """,
    ),
    Ordinary(
        id="tf-own-training-loop-second-epoch",
        framework="tensorflow",
        before=[
            IMPORT,
            """
            x, y = tf.random.normal((4_096, 200)), tf.random.normal((4_096, 1))
            batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
            layers = [tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(1)]
            model = tf.keras.Sequential([tf.keras.Input((200,)), *layers])
            optimizer = tf.keras.optimizers.SGD()

            @tf.function
            def train_step(x, y):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((model(x) - y) ** 2)
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                return loss

            for a, b in batches:
                loss = train_step(a, b)
            """,
        ],
        code="""
            for epoch in range(4):
                for a, b in batches:
                    loss = train_step(a, b)
                print(epoch, float(loss))
        """,
    ),
    Ordinary(
        id="tf-ragged-sentences",
        framework="tensorflow",
        before=[IMPORT],
        code="""
            sentences = ["What makes you think she is a witch?", "She made me a newt.", "A newt?"] * 300
            words = tf.strings.split(tf.constant(sentences))
            buckets = tf.strings.to_hash_bucket_fast(words, 1_000)
            table = tf.Variable(tf.random.normal((1_000, 16)))
            vectors = tf.nn.embedding_lookup(table, buckets)
            bigrams = tf.strings.join([words[:, :-1], words[:, 1:]], separator="+")
            print(tf.reduce_mean(vectors, axis=1).shape, bigrams.shape)
        """,
    ),
    Ordinary(
        id="tf-game-of-life",
        framework="tensorflow",
        before=[IMPORT],
        code="""
            world = tf.cast(tf.random.uniform((1, 256, 256, 1), seed=3) > 0.7, tf.float32)
            kernel = tf.reshape(tf.constant([[1.0, 1, 1], [1, 0, 1], [1, 1, 1]]), (3, 3, 1, 1))
            for generation in range(200):
                around = tf.nn.conv2d(world, kernel, 1, "SAME")
                world = tf.cast((around == 3) | ((around == 2) & (world == 1)), tf.float32)
            print(float(tf.reduce_sum(world)))
        """,
    ),
    Ordinary(
        id="tf-mandelbrot",
        framework="tensorflow",
        before=[IMPORT],
        code="""
            real, imaginary = np.meshgrid(np.linspace(-2, 0.6, 700), np.linspace(-1.2, 1.2, 600))
            c = tf.constant(real + 1j * imaginary)
            z, count = tf.zeros_like(c), tf.zeros(c.shape)
            for step in range(40):
                z = tf.where(tf.abs(z) < 4, z * z + c, z)
                count += tf.cast(tf.abs(z) < 4, tf.float32)
        """,
    ),
)
