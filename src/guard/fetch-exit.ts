import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { aimOf } from "./attempt.ts";
import { type Exit, guardedOf, replaceMethod } from "./exits.ts";
import type { Trail } from "./trail.ts";

/** What undici says of a request, within Node and as a package. */
interface SentRequest {
  readonly origin: string | URL;
  readonly path: string;
  readonly method: string;
}

const originOf = ({ origin }: SentRequest): string => String(origin).replace(/\/$/, "");

const aimOfSent = (request: SentRequest) => aimOf(request.method, originOf(request), request.path);

/** `fetch` connects in a later turn: what it was called with, and by whom, is remembered until then. */
const naming =
  (trail: Trail): Exit =>
  (gate) =>
    // Environments of browsers may lack it, and must not get one by this.
    typeof globalThis.fetch !== "function"
      ? () => {}
      : replaceMethod(
          globalThis,
          "fetch",
          (original, isOn) =>
            function fetch(this: unknown, ...args: Parameters<typeof globalThis.fetch>) {
              const pass = () => Reflect.apply(original, this, args);
              if (!isOn()) return pass();
              return trail.during(guardedOf(gate, [aimOfFetch(args)], fetch), pass);
            },
        );

function aimOfFetch([input, init]: Parameters<typeof globalThis.fetch>) {
  const isRequest = input instanceof Request;
  const method = String(init?.method ?? (isRequest ? input.method : "GET")).toUpperCase();
  return aimOf(method, "", isRequest ? input.url : String(input));
}

function listen(name: string, listener: (message: unknown) => void): () => void {
  subscribe(name, listener);
  return () => void unsubscribe(name, listener);
}

/** For requests that do not come by the global `fetch`. */
const announcing =
  (trail: Trail): Exit =>
  (gate) => {
    const onCreate = (message: unknown) => {
      const { request } = message as { request: SentRequest };
      const attempt = guardedOf(gate, [aimOfSent(request)], onCreate);
      if (attempt) trail.leave(attempt);
    };
    return listen("undici:request:create", onCreate);
  };

/** Stops requests over connections that were open before, or lead to a proxy: nothing has been written yet. */
const stopping =
  (trail: Trail): Exit =>
  (gate) => {
    const onSend = (message: unknown) => {
      const { request, socket } = message as { request: SentRequest; socket: Socket };
      const aims = trail.refused.has(socket) ? [] : [aimOfSent(request)];
      const attempt = guardedOf(gate, aims, onSend);
      if (attempt === undefined) return;
      const known = trail.take(attempt.place.host);
      trail.refused.add(socket);
      socket.destroy(gate.refuse(known?.url === attempt.url ? known : attempt));
    };
    return listen("undici:client:sendHeaders", onSend);
  };

export const fetchExits = (trail: Trail): readonly Exit[] => [
  naming(trail),
  announcing(trail),
  stopping(trail),
];
