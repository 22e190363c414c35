import { allowKeys, bodyOf } from "../http/control-body.ts";
import { type ControlRow, endpointsOf } from "../http/control-row.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json } from "../http/reply.ts";
import { patternIn } from "./asked-pattern.ts";
import type { AssertDesk } from "./desk.ts";
import type { Handle } from "./opening.ts";
import { settle } from "./settle.ts";
import { surroundingsOf } from "./surroundings.ts";
import { verify } from "./verify.ts";
import { wait } from "./wait.ts";
import { scopeIn } from "./wish.ts";

const surroundings: Handle = async (desk, call) => {
  const body = bodyOf(call);
  allowKeys(body, ["match", "project", "since"]);
  const match = body.match === undefined ? undefined : patternIn(body.match, "/match");
  const until = desk.log.lastSeq;
  const scope = scopeIn(desk, body);
  const now = { until, endedAt: desk.clock.now(), waited: null };
  return json(await surroundingsOf(desk, { match, scope, outcome: "kept", url: call.origin, ...now }));
};

const rows: readonly ControlRow<AssertDesk>[] = [
  [
    "POST",
    "/__sim/events/wait",
    "Waits until events match: `count` of one pattern, or a `sequence`; 409 with a report when they do not come",
    wait,
  ],
  [
    "POST",
    "/__sim/events/verify",
    "Waits until expectations hold: counts, order, nothing else; 409 with a report when they do not",
    verify,
  ],
  [
    "POST",
    "/__sim/events/surroundings",
    "What else there is to know when events did not come: for clients that judge themselves",
    surroundings,
  ],
  [
    "POST",
    "/__sim/settle",
    "Returns once no request is in flight and it has been quiet for idle_ms, in one project or in all",
    settle,
  ],
];

export const assertEndpoints = (desk: AssertDesk): Endpoint[] => endpointsOf(rows, desk);
