import { Agent, ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { isLoopbackHost } from "../kernel/host-rules.ts";
import { aimOf } from "./attempt.ts";
import { type Exit, guardedOf, replaceMethod } from "./exits.ts";
import type { Trail } from "./trail.ts";

/** Agents offer this method to requests; Node documents neither it nor its arguments. */
type OpenAgent = { addRequest(request: ClientRequest, ...rest: unknown[]): void };
/** How an agent hands over a connection, or says that there is none. */
type OpenRequest = { onSocket(socket: Socket | null, error?: Error): void };

const agents = Agent.prototype as unknown as OpenAgent;
const requests = ClientRequest.prototype as unknown as OpenRequest;

/** What a request may be about: by its `Host` header, which has the port, and by where it connects. */
function aimsOf(request: ClientRequest) {
  const header = String(request.getHeader("host") ?? "");
  // A named host that is reached through this machine is a test double, or a proxy which has the whole URL.
  const names = isLoopbackHost(request.host) ? [request.host] : [header, request.host];
  return names.map((name) => aimOf(request.method, `${request.protocol}//${name}`, request.path));
}

/** A socket without a handle is a stand-in by which some other tool answers: nothing leaves the process. */
const isReal = (socket: Socket): boolean => {
  const handle: unknown = Reflect.get(socket, "_handle");
  return typeof handle === "object" && handle !== null;
};

/** Names the connections which are opened for a request. */
const naming =
  (trail: Trail): Exit =>
  (gate) =>
    replaceMethod(
      agents,
      "addRequest",
      (original, isOn) =>
        function addRequest(this: OpenAgent, request: ClientRequest, ...rest: unknown[]) {
          const pass = () => Reflect.apply(original, this, [request, ...rest]);
          if (!isOn()) return pass();
          return trail.during(guardedOf(gate, aimsOf(request), addRequest), pass);
        },
    );

/** Stops requests over connections that were open before, or lead to a proxy. */
const stopping =
  (trail: Trail): Exit =>
  (gate) =>
    replaceMethod(
      requests,
      "onSocket",
      (original, isOn) =>
        function onSocket(this: OpenRequest, socket: Socket | null, ...rest: [Error?]) {
          const isOpen = isOn() && socket !== null && !trail.refused.has(socket) && isReal(socket);
          const aims = isOpen && this instanceof ClientRequest ? aimsOf(this) : [];
          const attempt = guardedOf(gate, aims, onSocket);
          const error = attempt ? gate.refuse(attempt) : undefined;
          if (error === undefined) return Reflect.apply(original, this, [socket, ...rest]);
          socket?.destroy();
          return Reflect.apply(original, this, [null, error]);
        },
    );

export const httpExits = (trail: Trail): readonly Exit[] => [naming(trail), stopping(trail)];
