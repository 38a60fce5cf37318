"""TensorFlow: described here, and everything of it in this folder. Nothing here imports it at the top."""

from jupyter_mlgpu.measure.frameworks.base import Framework, Verified

FRAMEWORK = Framework(
    name="tensorflow",
    title="TensorFlow",
    backend="jupyter_mlgpu.measure.frameworks.tensorflow.backend:TensorFlowBackend",
    sample="jupyter_mlgpu.measure.frameworks.tensorflow.doctor:sample",
    array_programs="jupyter_mlgpu.measure.frameworks.tensorflow.array_programs:TensorFlowPrograms",
    training="jupyter_mlgpu.measure.frameworks.tensorflow.training:TRAINING",
    profiler="jupyter_mlgpu.measure.frameworks.tensorflow.profiler:TensorFlowProfiler",
    build="jupyter_mlgpu.measure.frameworks.tensorflow.doctor:build",
    packages=("tensorflow*", "tf-nightly", "tf-nightly-*", "tf-keras"),
    metal_packages=("tensorflow-metal", "tensorflow-metal-plugin"),
    show_devices="TF_CPP_MAX_VLOG_LEVEL=3 "
    'python -c "import tensorflow as tf; print(tf.config.list_physical_devices())" 2>&1 | tail -n 40',
    modest={"TF_FORCE_GPU_ALLOW_GROWTH": "true"},
    caches={"tensorflow-datasets": ("TFDS_DATA_DIR", "tensorflow_datasets")},
    verified={
        "cpu": Verified("Linux x86-64, TensorFlow 2.19.1"),
        "metal": Verified("Linux x86-64, TensorFlow 2.19.1", emulated=True),
    },
)
