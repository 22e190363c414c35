import { Server } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import type { Mockttp, TlsHandshakeFailure } from "mockttp";
import { CaError, factsOf, openCa } from "./ca.ts";
import type { WorkerInput, WorkerMessage } from "./messages.ts";

const say = (message: WorkerMessage): void => parentPort?.postMessage(message);

/**
 * mockttp has no host option and listens on every interface: from here on nothing in this thread can listen on more
 * than loopback.
 */
function bindToLoopback(): void {
  const { listen } = Server.prototype;
  Server.prototype.listen = function (this: Server, ...given: unknown[]): Server {
    const [first, ...rest] = given;
    const where = typeof first === "object" && first !== null ? first : { port: Number(first ?? 0) };
    const callback = rest.find((it) => typeof it === "function");
    return Reflect.apply(listen, this, [{ ...where, host: "127.0.0.1" }, callback]);
  };
}

/** Why a handshake ends when the client does not know who signed. */
const signsOfDistrust = new Set(["cert-rejected", "reset", "closed"]);

function tellDistrust({ failureCause, tlsMetadata }: TlsHandshakeFailure): void {
  if (!signsOfDistrust.has(failureCause)) return;
  say({ kind: "distrusted", host: tlsMetadata.sniHostname ?? "", cause: failureCause });
}

/** Everything goes back to the sim in clear, as it came: headers, bytes and all. */
async function leadBack(server: Mockttp, back: WorkerInput["back"]): Promise<void> {
  const replaceHost = (port: number) => ({
    targetHost: `127.0.0.1:${port}`,
    updateHostHeader: false as const,
  });
  const to = (port: number) => ({
    transformRequest: { setProtocol: "http" as const, replaceHost: replaceHost(port) },
  });
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
    // Bodies stream through; what mockttp keeps of them for its events is of no use here.
    maxBodySize: 64 * 1024,
  });
  await leadBack(server, back);
  await server.start(0);
  await server.on("tls-client-error", tellDistrust);
  // Without a listener it keeps whole answers, whatever the limit says.
  await server.on("response", () => {});
  say({ kind: "ready", port: server.port, certFile: ca.certFile, spki: factsOf(ca).spki });
}

serve(workerData as WorkerInput).catch((error: unknown) => {
  const text = error instanceof CaError ? `${error.message}; ${error.hint}` : String(error);
  say({ kind: "failed", message: text });
});
