import { Server } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import type { Mockttp, TlsHandshakeFailure } from "mockttp";
import { CaError, factsOf, openCa } from "./certificate-authority.ts";
import type { WorkerInput, WorkerMessage } from "./decryptor.ts";

const send = (message: WorkerMessage): void => parentPort?.postMessage(message);

/** mockttp has no host option and listens on every interface: everything in this thread is restricted to loopback. */
function bindToLoopback(): void {
  const { listen } = Server.prototype;
  Server.prototype.listen = function (this: Server, ...given: unknown[]): Server {
    const [first, ...rest] = given;
    const where = typeof first === "object" && first !== null ? first : { port: Number(first ?? 0) };
    const callback = rest.find((it) => typeof it === "function");
    return Reflect.apply(listen, this, [{ ...where, host: "127.0.0.1" }, callback]);
  };
}

const distrustCauses = new Set(["cert-rejected", "reset", "closed"]);

function reportDistrust({ failureCause, tlsMetadata }: TlsHandshakeFailure): void {
  if (!distrustCauses.has(failureCause)) return;
  send({ kind: "distrusted", host: tlsMetadata.sniHostname ?? "", cause: failureCause });
}

async function passToSim(server: Mockttp, back: WorkerInput["back"]): Promise<void> {
  const replaceHost = (port: number) => ({ targetHost: `127.0.0.1:${port}`, updateHostHeader: false as const });
  const to = (port: number) => ({ transformRequest: { setProtocol: "http" as const, replaceHost: replaceHost(port) } });
  await server
    .forAnyRequest()
    .asPriority(2)
    // not `matching`: that waits for the body, and loses what is over maxBodySize
    .withProtocol("https")
    .always()
    .thenPassThrough(to(back.https));
  await server.forAnyRequest().asPriority(1).always().thenPassThrough(to(back.http));
  await server
    .forAnyWebSocket()
    .always()
    .thenPassThrough({ transformRequest: { setProtocol: "ws", replaceHost: replaceHost(back.https) } });
}

async function serve({ caFolder, back }: WorkerInput): Promise<void> {
  bindToLoopback();
  const ca = await openCa(caFolder);
  const { getLocal } = await import("mockttp");
  const server = getLocal({
    https: { key: ca.key, cert: ca.cert },
    http2: true,
    recordTraffic: false,
    suggestChanges: false,
    // Bodies stream through; mockttp's copies for its events are not used.
    maxBodySize: 64 * 1024,
  });
  await passToSim(server, back);
  await server.start(0);
  await server.on("tls-client-error", reportDistrust);
  // Without a listener it keeps whole answers in spite of the limit.
  await server.on("response", () => {});
  const { spki, replaced } = factsOf(ca);
  send({ kind: "ready", port: server.port, certFile: ca.certFile, spki, replaced });
}

serve(workerData as WorkerInput).catch((error: unknown) => {
  const text = error instanceof CaError ? `${error.message}; ${error.hint}` : String(error);
  send({ kind: "failed", message: text });
});
