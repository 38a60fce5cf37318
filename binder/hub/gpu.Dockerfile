# The image of the class (values.yaml) and NVIDIA's libraries, for the profile with a GPU:
#   docker build --file binder/hub/gpu.Dockerfile --tag registry.example.org/jupyter-mlgpu-class-gpu:0.1.0 .
# The list names exact versions with their hashes: `make constraints` compiles it.
FROM registry.example.org/jupyter-mlgpu-class:0.1.0
COPY constraints/gpu.txt /tmp/gpu.txt
RUN python -m pip install --no-cache-dir --require-hashes --no-deps --only-binary :all: --requirement /tmp/gpu.txt
