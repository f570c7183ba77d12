# The web UI, then the one static binary, then nothing else. Built from the repository's root:
#   docker build -t apilab . && docker run --rm --network host -v apilab:/data apilab
# apilab listens on loopback alone, so the container shares the host's network; it prints the address to open, and
# `docker exec CONTAINER /apilab open` another. Clusters of real nodes need an engine beside apilab: not in here.
FROM node:24-bookworm-slim AS web
WORKDIR /src
COPY assets/package.json assets/package-lock.json assets/.npmrc assets/
RUN cd assets && npm ci --no-audit --no-fund
COPY assets assets
COPY content content
RUN cd assets && npm run build

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=web /src/assets/dist assets/dist
ARG VERSION=dev
# node_modules and dist are there already: tell make so.
RUN mkdir -p assets/node_modules && touch assets/node_modules/.installed assets/dist/.built \
 && make build VERSION=$VERSION \
 && install -d -m 0700 /data

FROM scratch
COPY --from=build /src/bin/apilab /apilab
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
ENV APILAB_DATA_DIR=/data HOME=/data TMPDIR=/data
VOLUME /data
ENTRYPOINT ["/apilab"]
CMD ["serve", "--no-open"]
