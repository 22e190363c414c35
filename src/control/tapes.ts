import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json, type Reply } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { maskTargetSecrets } from "../kernel/secrets.ts";
import { allowKeys, bodyOf } from "./body.ts";
import type { ControlDesk } from "./desk.ts";
import { type ControlRow, endpointsOf } from "./rows.ts";
import type { TapeInForce } from "./tapes-desk.ts";
import { shelfRows } from "./tapes-shelf.ts";

/** Entries of a ledger that one answer tells. */
const mostTold = 1_000;

type Missed = TapeInForce["ledger"]["misses"][number];

const masked = (miss: Missed): Missed => ({ ...miss, target: maskTargetSecrets(miss.target) });

/** The tape in force. A long ledger is told in part; the counts are whole. */
function shown(tape: TapeInForce | null) {
  if (tape === null) return { tape: null };
  const { unused, misses, left_out, events, ...counts } = tape.ledger;
  const ledger = {
    ...counts,
    unused_count: unused.length,
    miss_count: misses.reduce((sum, { times }) => sum + times, 0),
    unused: unused.slice(0, mostTold),
    left_out: left_out.slice(0, mostTold),
    events: { ...events, missing: events.missing.slice(0, mostTold) },
    misses: misses.slice(0, mostTold).map(masked),
  };
  return { tape: { ...tape, problems: tape.problems.slice(0, mostTold), ledger } };
}

/** The answer of GET /__sim/tapes. */
export type ShownTapes = ReturnType<typeof shown>;

function textIn(body: JsonObject, key: string): string | undefined {
  const value = body[key];
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw new SimError("invalid_input", `"${key}" must be a text that is not empty`, { pointer: `/${key}` });
}

function statusesIn(body: JsonObject, key: string): number[] | undefined {
  const value = body[key];
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((it) => typeof it === "number")) return value;
  throw new SimError("invalid_input", `"${key}" must be a list of statuses such as 429`, {
    pointer: `/${key}`,
  });
}

async function load({ tapes }: ControlDesk, call: Call): Promise<Reply> {
  const body = bodyOf(call);
  allowKeys(body, ["tape", "mode", "on_miss", "timing", "skip_status"]);
  const tape = textIn(body, "tape");
  if (tape === undefined)
    throw new SimError("invalid_input", `"tape" is missing: the name or path of a tape`, {
      pointer: "/tape",
    });
  const [mode, onMiss, timing] = [textIn(body, "mode"), textIn(body, "on_miss"), textIn(body, "timing")];
  const skipStatus = statusesIn(body, "skip_status");
  return json(
    shown(
      await tapes.load({
        tape,
        ...(mode !== undefined && { mode }),
        ...(onMiss !== undefined && { onMiss }),
        ...(timing !== undefined && { timing }),
        ...(skipStatus && { skipStatus }),
      }),
    ),
  );
}

function rewind({ tapes }: ControlDesk, call: Call): Reply {
  const body = bodyOf(call);
  allowKeys(body, ["client"]);
  const client = textIn(body, "client");
  if (tapes.show() === null)
    throw new SimError("not_found", "no tape is in force", { hint: "POST /__sim/tapes puts one in force" });
  tapes.rewind(client);
  return json(shown(tapes.show()));
}

const root = "/__sim/tapes";

const rows: readonly ControlRow<ControlDesk>[] = [
  [
    "GET",
    root,
    "The tape in force: its mode, and what was used, not used and missed",
    ({ tapes }) => json(shown(tapes.show())),
  ],
  ["POST", root, "Puts a tape in force: tape, mode, on_miss, timing, skip_status", load],
  [
    "DELETE",
    root,
    "The emulator answers again; tells what was used of the tape",
    ({ tapes }) => json(shown(tapes.unload())),
  ],
  ["POST", `${root}/rewind`, "Back to the tape's beginning, for all clients or one: client", rewind],
  ...shelfRows,
];

/** Recorded answers in the emulator's place. */
export const tapeEndpoints = (desk: ControlDesk): Endpoint[] => endpointsOf(rows, desk);
