import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { rootCertificates } from "node:tls";

/** Connections to the upstreams, kept open between requests. */
export interface Agents {
  of(protocol: string): HttpAgent;
  close(): void;
}

/** Idle connections are given up before the service's own balancers do so, ms: nobody writes into a closed one. */
const idleMs = 4000;

/**
 * @param ca Certificates (PEM) that count besides the usual ones, e.g. of a company's own service. Certificates are
 * always checked.
 */
export function createAgents(ca?: string): Agents {
  const options = { keepAlive: true, timeout: idleMs };
  const plain = new HttpAgent(options);
  const tls = new HttpsAgent({
    ...options,
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
  });
  return {
    of: (protocol) => (protocol === "https:" ? tls : plain),
    close() {
      plain.destroy();
      tls.destroy();
    },
  };
}
