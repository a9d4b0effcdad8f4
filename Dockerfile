# Two images of one build: `docker build --target api .` and `docker build --target worker .`
# The API's has what runs no tool; the worker's has the whole command line, bubblewrap and Python.

# A digest pins it: --build-arg BASE_IMAGE=node@sha256:... (docs/operations.md).
ARG BASE_IMAGE=node:24.21.0-bookworm-slim
FROM ${BASE_IMAGE} AS base
WORKDIR /app

# What npm needs and no more: a change of sources doesn't install everything again.
FROM base AS manifests
COPY package.json package-lock.json .npmrc ./
COPY apps apps
COPY packages packages
COPY samples/package.json samples/package.json
COPY examples/package.json examples/package.json
RUN find apps packages -mindepth 2 -maxdepth 2 ! -name package.json -exec rm -rf {} +

FROM base AS build
COPY --from=manifests /app ./
RUN npm ci --ignore-scripts
COPY tsconfig.base.json ./
COPY apps apps
COPY packages packages
COPY samples samples
RUN node node_modules/typescript-7/bin/tsc -b apps/cli && npx vite build apps/console
RUN npx rolldown -c apps/cli/rolldown.config.js --logLevel warn
RUN find apps packages \( -name src -o -name tsconfig.json -o -name .tsbuildinfo -o -name node_modules \) -prune -exec rm -rf {} +

FROM base AS api-dependencies
COPY --from=manifests /app ./
RUN npm ci --omit=dev --ignore-scripts --workspace @toolyard/api

FROM base AS worker-dependencies
COPY --from=manifests /app ./
RUN npm ci --omit=dev --ignore-scripts --workspace apps/cli

# A process with the number 1 that passes signals on and buries what tools leave behind, which Node.js doesn't.
FROM base AS service
RUN apt-get update \
 && apt-get install -y --no-install-recommends tini \
 && rm -rf /var/lib/apt/lists/*
# What sessions may begin as is the operator's: no tool changes it.
RUN install -d -o node -g node /srv/toolyard /srv/toolyard/workspace /srv/toolyard/sessions /srv/toolyard/audit \
 && install -d /srv/toolyard/templates
COPY scripts/healthcheck.mjs scripts/healthcheck.mjs
COPY --from=build /app/samples samples
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3001 \
    METRICS_PORT=9464 \
    WORKSPACE_DIR=/srv/toolyard/workspace \
    SESSIONS_DIR=/srv/toolyard/sessions \
    SESSION_TEMPLATES_DIR=/srv/toolyard/templates \
    AUDIT_DIR=/srv/toolyard/audit
ENTRYPOINT ["/usr/bin/tini", "--", "node"]

FROM service AS api
COPY --from=api-dependencies /app ./
COPY --from=build /app/packages/contract packages/contract
COPY --from=build /app/packages/runtime packages/runtime
COPY --from=build /app/packages/manifests packages/manifests
COPY --from=build /app/packages/store packages/store
COPY --from=build /app/packages/queue packages/queue
COPY --from=build /app/packages/workspace packages/workspace
COPY --from=build /app/apps/api apps/api
WORKDIR /srv/toolyard
# By its number, so that Kubernetes can tell that it isn't root. The worker's user: what tools wrote in a session belongs to it,
# and nobody else may read it. docs/files.md has the price, and how to do without.
USER 1000:1000
EXPOSE 3001 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "/app/scripts/healthcheck.mjs", "http://127.0.0.1:3001/health"]
CMD ["/app/apps/api/bundle/api.js"]

FROM service AS worker
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap ca-certificates python3 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=worker-dependencies /app ./
COPY --from=build /app/packages packages
COPY --from=build /app/apps apps
WORKDIR /srv/toolyard
# The user `node`.
USER 1000:1000
EXPOSE 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "/app/scripts/healthcheck.mjs", "http://127.0.0.1:9464/health"]
CMD ["/app/apps/cli/bin/toolyard.js", "worker"]
