# syntax=docker/dockerfile:1
# The chat on your own machine. From the project's folder:
#   docker build -t lqr .                                  two CPU cores, no language model (1.5 GB or so)
#   docker build -t lqr:cuda --build-arg VARIANT=cuda .    NVIDIA GPU, Llama 3 in 4 bits
#   docker run -p 7860:7860 -v lqr:/data lqr
#   docker run --gpus all -p 7860:7860 -v lqr:/data lqr:cuda
ARG PYTHON=3.12
ARG VARIANT=cpu

FROM python:${PYTHON}-slim-bookworm AS base
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# What differs: where torch comes from, and what a GPU needs besides.
FROM base AS packages-cpu
WORKDIR /build
COPY requirements.txt .
RUN python -m venv /opt/venv \
    && /opt/venv/bin/pip install --index-url https://download.pytorch.org/whl/cpu \
        "$(grep -oE '^torch==[^ ]+' requirements.txt)" \
    && /opt/venv/bin/pip install -r requirements.txt

# The CUDA build of torch brings CUDA's libraries with it: the image needs no more than the host's driver.
FROM base AS packages-cuda
WORKDIR /build
COPY requirements.txt .
RUN python -m venv /opt/venv \
    && sed '/^faiss-cpu==/d' requirements.txt > requirements-cuda.txt \
    && /opt/venv/bin/pip install -r requirements-cuda.txt bitsandbytes==0.50.2 faiss-gpu-cu12==1.14.1.post1

# hadolint ignore=DL3006
FROM packages-${VARIANT} AS packages

FROM base AS runtime-cpu

# Settings of spaces/gpu; the profile is chosen by itself when the container sees a GPU. TOKENS are counts, no secret.
FROM base AS runtime-cuda
# hadolint ignore=DL3064
ENV LQR_LLM=llama3 LQR_LLM_CONTEXT=8192 LQR_LLM_PROMPT_TOKENS=2400 LQR_LLM_MAX_TOKENS=300

# hadolint ignore=DL3006
FROM runtime-${VARIANT}
# Numbers, so that a cluster can see that it is not root.
RUN groupadd --gid 10001 lqr \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data lqr \
    && mkdir /data \
    && chown lqr:lqr /data
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
COPY . .
# Editable: models and knowledge are looked for beside the code.
RUN /opt/venv/bin/pip install --no-deps --editable .
ENV PATH=/opt/venv/bin:$PATH \
    HOME=/data \
    HF_HOME=/data/huggingface \
    LQR_HOME=/data/lqr \
    LQR_HOST=0.0.0.0 \
    LQR_PORT=7860
USER 10001:10001
VOLUME /data
EXPOSE 7860
# The first start embeds the documents; until then nobody listens.
HEALTHCHECK --interval=30s --timeout=5s --start-period=180s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"LQR_PORT\"]}/health', timeout=4)"]
CMD ["python", "app.py"]
