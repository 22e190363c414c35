# phx-sim as a container: docker build -t phx-sim . && docker run --rm -p 127.0.0.1:7490:7490 -e PHX_SIM_TOKEN phx-sim
# `npm run check:image` executes these steps without a container runtime.

FROM node:24-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund --ignore-scripts
RUN npm run build:code
RUN npm pack --ignore-scripts --pack-destination /tmp && mv /tmp/phx-sim-*.tgz /tmp/phx-sim.tgz

FROM node:24-slim
COPY --from=build /tmp/phx-sim.tgz /tmp/phx-sim.tgz
RUN npm install --global --no-audit --no-fund /tmp/phx-sim.tgz && rm /tmp/phx-sim.tgz
RUN mkdir -p /data /scenarios && chown node:node /data /scenarios
ENV PHX_SIM_HOST=0.0.0.0
ENV PHX_SIM_DATA=/data
USER node
WORKDIR /scenarios
EXPOSE 7490
VOLUME /data
HEALTHCHECK --interval=2s --timeout=3s --start-period=10s --retries=15 CMD ["node", "-e", "fetch('http://127.0.0.1:7490/__sim/ready').then((it) => process.exit(it.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["phx-sim"]
CMD ["start"]
