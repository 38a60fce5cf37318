# The image of the class (values.yaml) and NVIDIA's libraries, for the profile with a GPU:
#   docker build --file binder/hub/gpu.Dockerfile --tag registry.example.org/jupyter-mlgpu-class-gpu:0.1.0 .
# This extra of TensorFlow names one exact version of each of NVIDIA's packages.
FROM registry.example.org/jupyter-mlgpu-class:0.1.0
RUN python -m pip install --no-cache-dir "tensorflow[and-cuda]==2.19.1"
