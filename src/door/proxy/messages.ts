/** What the worker is given: where it leads requests to, by scheme, and who signs its certificates. */
export interface WorkerInput {
  readonly caFolder: string | undefined;
  /** Ports on 127.0.0.1. */
  readonly back: { readonly http: number; readonly https: number };
}

/** What the worker says. */
export type WorkerMessage =
  | { readonly kind: "ready"; readonly port: number; readonly certFile: string; readonly spki: string }
  /** A client broke off the handshake; `host` is what it asked for. */
  | { readonly kind: "distrusted"; readonly host: string; readonly cause: string }
  | { readonly kind: "failed"; readonly message: string };
