import type { IncomingMessage, ServerResponse } from "node:http";

/** Where a request wants to go. */
export interface Offered {
  /** As made by `pathOf`. */
  readonly path: string;
  /** The host that was asked for, where the request came through the proxy. */
  readonly host: string | undefined;
  /** Where the client believes the service to be; undefined: it does not say. */
  readonly origin: string | undefined;
}

/** Who passes requests on to upstreams while a recording runs. */
export interface Passing {
  /** Passes the request on, or has it answered here. */
  offer(req: IncomingMessage, res: ServerResponse, offered: Offered, answerHere: () => void): void;
}
