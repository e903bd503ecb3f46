# SPDX-License-Identifier: MIT
#
# An image that runs `switchboard serve` and holds little else.
#
#   docker build -t switchboard .
#   docker run --read-only -p 3000:3000 -v switchboard-data:/data -v ./nccos:/nccos:ro -e VONAGE_NUMBER=14155550100 switchboard
#
# Settings are environment variables (`docker run --rm switchboard help serve` lists them). Set the port by PORT, not by a flag: the health
# check sees the environment only. Everything that is kept lies in /data; the root may be read-only, and the user may be any.
#
# `Tests/Container/prove.sh` carries the second stage out without a container engine and checks what it promises.

# Swift's own image, on the same Debian as below: the binary needs the C library of the system that it was linked on, or a newer one.
FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libssl-dev libz-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
# The tests too: the manifest names their folders, and without them it is refused.
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
# Swift's libraries go into the binary, so the image needs no Swift. Symbols stay in: they make a crash readable and cost no memory.
RUN swift build -c release --product switchboard --static-swift-stdlib \
    && install -D .build/release/switchboard /out/switchboard

FROM debian:bookworm-slim
# tzdata knows the time zones that flows ask for. libgcc-s1, libssl3 (for TLS and libcrypto), libstdc++6 and zlib1g are what the binary is linked
# with, besides the C library; the slim image has most of them only because its own tools need them. libcurl4 is loaded when another server is
# asked, and ca-certificates say whom to believe then.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libcurl4 libgcc-s1 libssl3 libstdc++6 tzdata zlib1g \
    && rm -rf /var/lib/apt/lists/* \
# Of group 0, and /data open to that group: OpenShift runs images as a random user of group 0.
    && useradd --uid 10001 --gid 0 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin switchboard \
    && install -d -o 10001 -g 0 -m 0770 /data
COPY --from=build /out/switchboard /usr/local/bin/switchboard
# The shipped flows, found where the server looks for them; mount a folder of your own over it.
COPY nccos /nccos

# From outside of the container its localhost cannot be reached.
ENV HOST=0.0.0.0 EVENTS_DIR=/data
EXPOSE 3000
VOLUME /data
# A number, so that Kubernetes' runAsNonRoot can tell that it is not root.
USER 10001
# Degraded counts as healthy: calls are still answered, and a restart would end them.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["switchboard", "health"]
# No shell in between: the program is process 1 and gets the engine's SIGTERM (the default of STOPSIGNAL) itself. It ends within 8 s, before
# the engine's 10 s are over.
ENTRYPOINT ["switchboard"]
CMD ["serve"]
