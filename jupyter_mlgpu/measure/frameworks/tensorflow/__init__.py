"""The description of TensorFlow, whose support is in this folder. Nothing here imports it at the top."""

from jupyter_mlgpu.measure.frameworks.base import Framework, Verified
from jupyter_mlgpu.record.sentence import say

FRAMEWORK = Framework(
    name="tensorflow",
    title="TensorFlow",
    backend="jupyter_mlgpu.measure.frameworks.tensorflow.backend:TensorFlowBackend",
    sample="jupyter_mlgpu.measure.frameworks.tensorflow.doctor:sample",
    array_programs="jupyter_mlgpu.measure.frameworks.tensorflow.array_programs:TensorFlowPrograms",
    training="jupyter_mlgpu.measure.frameworks.tensorflow.training:TRAINING",
    profiler="jupyter_mlgpu.measure.frameworks.tensorflow.profiler:TensorFlowProfiler",
    build="jupyter_mlgpu.measure.frameworks.tensorflow.doctor:build",
    newest_python=(3, 13),
    packages=("tensorflow*", "tf-nightly", "tf-nightly-*", "tf-keras"),
    metal_packages=("tensorflow-metal", "tensorflow-metal-plugin"),
    show_devices="TF_CPP_MAX_VLOG_LEVEL=3 "
    'python -c "import tensorflow as tf; print(tf.config.list_physical_devices())" 2>&1 | tail -n 40',
    memory_growth_env={"TF_FORCE_GPU_ALLOW_GROWTH": "true"},
    caches={"tensorflow-datasets": ("TFDS_DATA_DIR", "tensorflow_datasets")},
    # Read in the source of TensorFlow 2.19.
    stack_rules={
        "tensorflow/python/data/": "input",
        "tensorflow/python/ops/script_ops.py": "input",
        "tensorflow_datasets/": "input",
        "tensorflow_text/": "input",
        "tensorflow/python/eager/polymorphic_function/tracing_compilation.py": {
            # The other functions of this module look up traced functions at every call.
            "_create_concrete_function": "compiling",
        },
        "tensorflow/python/framework/func_graph.py": {"func_graph_from_py_func": "compiling"},
        "tensorflow/python/autograph/": "compiling",
        "tensorflow/python/framework/ops.py": {"numpy": "values", "_numpy": "values"},
        "tensorflow/python/framework/constant_op.py": {"convert_to_eager_tensor": "copy"},
        "tensorflow/python/profiler/profiler_v2.py": "profiler",
    },
    remedies={
        "compiling": say(
            "Run it again: what was compiled is kept. A `tf.function` is traced again for other shapes and "
            "Python numbers: pass these as tensors."
        ),
        "launch": say(
            "Put more into each operation: larger batches, one `tf.function` for the whole step, or "
            "`steps_per_execution` in Keras's `compile`."
        ),
        "input": say(
            "Prepare data ahead: `num_parallel_calls=tf.data.AUTOTUNE` in `map`, `cache()` for what does not "
            "change, and `prefetch(tf.data.AUTOTUNE)` at the end."
        ),
        "transfer": say("Keep results as tensors, and call `.numpy()` once, after the loop."),
    },
    verified={
        "cpu": Verified("Linux x86-64, TensorFlow 2.19.1"),
        "metal": Verified("Linux x86-64, TensorFlow 2.19.1", emulated=True),
    },
)
