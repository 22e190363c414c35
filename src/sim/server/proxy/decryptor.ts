import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { builtFile } from "../../../kernel/base/built-file.ts";

interface DecryptorOptions {
  caFolder: string | undefined;
  admit: (socket: Socket, scheme: "http" | "https") => void;
  onDistrusted: (host: string, ca: { certFile: string; spki: string }) => void;
  /** Called when a new authority has replaced one that expired at `end`. */
  onReplaced: (end: string, certFile: string) => void;
}

/** mockttp in a thread: TLS and HTTP/2 in, plain HTTP/1.1 to our listeners out. @throws Error if authority or thread fail */
export async function openDecryptor(options: DecryptorOptions) {
  const listeners = await openListeners(options.admit);
  const closeListeners = () => {
    for (const listener of [listeners.http, listeners.https]) listener.close();
  };
  try {
    const input: WorkerInput = {
      caFolder: options.caFolder,
      back: { http: portOf(listeners.http), https: portOf(listeners.https) },
    };
    const { worker, port } = await startWorker(input, options);
    return {
      port,
      async close() {
        closeListeners();
        await worker.terminate();
      },
    };
  } catch (error) {
    closeListeners();
    throw error;
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** One listener for each scheme: so requests need no mark, which could be forged and would be recorded. */
async function openListeners(admit: DecryptorOptions["admit"]) {
  const open = (scheme: "http" | "https") =>
    new Promise<Server>((resolve, reject) => {
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => admit(socket, scheme));
      server.once("error", reject).listen(0, "127.0.0.1", () => resolve(server));
    });
  return { http: await open("http"), https: await open("https") };
}

function startWorker(input: WorkerInput, { onDistrusted, onReplaced }: DecryptorOptions) {
  return new Promise<{ worker: Worker; port: number }>((resolve, reject) => {
    // mockttp also prints its events
    const worker = new Worker(builtFile("sim/server/proxy/worker.js"), {
      workerData: input,
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    worker.stdout.resume();
    worker.stderr.resume();
    worker.unref();
    let ca: { certFile: string; spki: string } | undefined;
    worker.on("error", reject).on("exit", () => reject(new Error("the proxy's thread ended")));
    worker.on("message", (message: WorkerMessage) => {
      if (message.kind === "failed") void worker.terminate().then(() => reject(new Error(message.message)));
      if (message.kind === "distrusted" && ca !== undefined) onDistrusted(message.host, ca);
      if (message.kind !== "ready") return;
      ca = message;
      if (message.replaced !== null) onReplaced(message.replaced, message.certFile);
      resolve({ worker, port: message.port });
    });
  });
}

export interface WorkerInput {
  readonly caFolder: string | undefined;
  /** The ports on 127.0.0.1 that it sends requests to, by scheme. */
  readonly back: { readonly http: number; readonly https: number };
}

export type WorkerMessage =
  | {
      readonly kind: "ready";
      readonly port: number;
      readonly certFile: string;
      readonly spki: string;
      readonly replaced: string | null;
    }
  /** A client ended the handshake; `host` is the requested one. */
  | { readonly kind: "distrusted"; readonly host: string; readonly cause: string }
  | { readonly kind: "failed"; readonly message: string };
