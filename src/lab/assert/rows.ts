import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { Surroundings } from "./match/report-shapes.ts";
import { patternOf } from "./pattern-shape.ts";
import type { AssertingPorts } from "./ports.ts";
import {
  Failed,
  Settled,
  SettleRequest,
  SurroundingsRequest,
  Verified,
  VerifyRequest,
  Waited,
  WaitRequest,
} from "./shapes.ts";
import { surroundingsOf } from "./surroundings.ts";
import { scopeOf, settle, verify, wait } from "./waits.ts";

export const assertSlice = slice(["asserting"], ({ asserting: ports }: AssertingPorts) => [
  row({
    method: "POST",
    path: "/__sim/events/wait",
    access: "control",
    summary:
      "Waits until events match: `count` of one pattern, or a `sequence`; 409 with a report when they do not come",
    body: WaitRequest,
    reply: Waited,
    replies: { 409: { description: "They did not come in time", shape: Failed } },
    handle: ({ body, call }) => wait(ports, body, call),
  }),
  row({
    method: "POST",
    path: "/__sim/events/verify",
    access: "control",
    summary: "Waits until expectations hold: counts, order, nothing else; 409 with a report when they do not",
    body: VerifyRequest,
    reply: Verified,
    replies: { 409: { description: "They do not", shape: Failed } },
    handle: ({ body, call }) => verify(ports, body, call),
  }),
  row({
    method: "POST",
    path: "/__sim/events/surroundings",
    access: "control",
    summary: "Returns the other facts of a report, for clients that test the events themselves",
    body: SurroundingsRequest,
    reply: Surroundings,
    handle: ({ body, call }) =>
      surroundingsOf(ports, {
        match: body.match === undefined ? undefined : patternOf(body.match),
        scope: scopeOf(ports, body),
        outcome: "kept",
        until: ports.log.lastSeq,
        endedAt: ports.clock.now(),
        waited: null,
        url: call.origin,
      }),
  }),
  row({
    method: "POST",
    path: "/__sim/settle",
    access: "control",
    summary: "Returns once no request is in flight and it has been quiet for idle_ms, in one project or in all",
    body: SettleRequest,
    reply: Settled,
    errors: [409],
    handle: ({ body, call }) => settle(ports, body, call),
  }),
]);
