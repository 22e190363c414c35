import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import type { ProxyPorts } from "./check-proxy.ts";
import { ProxyCheck, ProxyReport } from "./shapes.ts";

export const proxySlice = slice(["probes", "recordings", "address", "closing"], (ports: ProxyPorts) => [
  row({
    method: "POST",
    path: "/__sim/proxies/check",
    access: "control",
    summary: "Sends what SDKs send through a reverse proxy to this sim, and compares what arrives",
    body: ProxyCheck,
    errors: [409],
    reply: ProxyReport,
    handle: async ({ body }) => (await import("./check-proxy.ts")).checkProxy(ports, body),
  }),
]);
