import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { builtFile } from "../../kernel/built-file.ts";
import type { WorkerInput, WorkerMessage } from "./messages.ts";

export interface DecryptorOptions {
  caFolder: string | undefined;
  /** Takes a connection with requests in clear, of clients that spoke the scheme. */
  admit: (socket: Socket, scheme: "http" | "https") => void;
  /** Told when a client does not trust what it is shown. */
  onDistrusted: (host: string, ca: { certFile: string; spki: string }) => void;
}

/** mockttp in a thread of its own: takes TLS and HTTP/2, gives back HTTP/1.1 in clear on doors of ours. */
export interface Decryptor {
  /** Where connections are to be passed on to, on 127.0.0.1. */
  readonly port: number;
  close(): Promise<void>;
}

/** @throws Error when the authority, or the thread, cannot be had */
export async function openDecryptor(options: DecryptorOptions): Promise<Decryptor> {
  const doors = await openDoors(options.admit);
  const closeDoors = () => {
    for (const door of [doors.http, doors.https]) door.close();
  };
  try {
    const input: WorkerInput = {
      caFolder: options.caFolder,
      back: { http: portOf(doors.http), https: portOf(doors.https) },
    };
    const { worker, port } = await startWorker(input, options);
    return {
      port,
      async close() {
        closeDoors();
        await worker.terminate();
      },
    };
  } catch (error) {
    closeDoors();
    throw error;
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** One door for each scheme: what comes through it needs no mark that could be forged, or that would be recorded. */
async function openDoors(admit: DecryptorOptions["admit"]) {
  const open = (scheme: "http" | "https") =>
    new Promise<Server>((resolve, reject) => {
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => admit(socket, scheme));
      server.once("error", reject).listen(0, "127.0.0.1", () => resolve(server));
    });
  return { http: await open("http"), https: await open("https") };
}

function startWorker(input: WorkerInput, { onDistrusted }: DecryptorOptions) {
  return new Promise<{ worker: Worker; port: number }>((resolve, reject) => {
    // mockttp prints what its events say as well
    const worker = new Worker(builtFile("door/proxy/worker.js"), {
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
      resolve({ worker, port: message.port });
    });
  });
}
