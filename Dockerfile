# absolve without a Python of its own on the machine:
#   docker build -t absolve .
#   docker run --rm --read-only -v "$PWD:/work" -u "$(id -u):$(id -g)" absolve rewrite page.html --url https://h.example/
# It runs as no user of this machine unless -u names one, needs no network, and writes nothing outside /work and /tmp:
# `audit` and `links --where` need --tmpfs /tmp beside --read-only.
FROM python:3.14-slim-trixie AS build
# The versions of Debian's packages are those of the image's release.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python -m venv /opt/absolve \
    && sed -E '/^ +(--hash|#)/d; s/ \\$//' .ci/requirements/dev.txt >/tmp/versions.txt \
    && PIP_CONSTRAINT=/tmp/versions.txt PIP_BUILD_CONSTRAINT=/tmp/versions.txt \
        /opt/absolve/bin/python -m pip install --no-cache-dir . \
    && /opt/absolve/bin/python .ci/smoke.py compiled

FROM python:3.14-slim-trixie
COPY --from=build /opt/absolve /opt/absolve
ENV PATH=/opt/absolve/bin:$PATH PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /work
USER 65532:65532
ENTRYPOINT ["absolve"]
CMD ["--help"]
