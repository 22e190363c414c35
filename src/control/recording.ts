import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json, type Reply } from "../http/reply.ts";
import { type ErrorCode, SimError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { allowKeys, bodyOf } from "./body.ts";
import {
  RecordingError,
  type RecordingOrder,
  type Recordings,
  recordingModes,
  redactions,
} from "./recording-port.ts";
import { type ControlRow, endpointsOf } from "./rows.ts";

interface RecordingDesk {
  readonly recordings: Recordings;
}

const invalid = (detail: string, key: string): SimError =>
  new SimError("invalid_input", detail, { pointer: `/${key}` });

function oneOf<T extends string>(body: JsonObject, key: string, choices: readonly T[]): T | undefined {
  const value = body[key];
  if (value === undefined) return undefined;
  const found = choices.find((it) => it === value);
  if (found !== undefined) return found;
  throw invalid(`"${key}" must be one of ${choices.join(", ")}`, key);
}

function textIn(body: JsonObject, key: string): string | undefined {
  const value = body[key];
  if (value === undefined || (typeof value === "string" && value !== "" && !value.includes("\0")))
    return value;
  throw invalid(`"${key}" must be text`, key);
}

const isTexts = (value: Json): value is string[] =>
  Array.isArray(value) && value.every((it) => typeof it === "string" && it !== "");

function textsIn(body: JsonObject, key: string): string[] | undefined {
  const value = body[key];
  if (value === undefined || isTexts(value)) return value;
  throw invalid(`"${key}" must be a list of globs`, key);
}

function switchIn(body: JsonObject, key: string): boolean | undefined {
  const value = body[key];
  if (value === undefined || typeof value === "boolean") return value;
  throw invalid(`"${key}" must be true or false`, key);
}

/** Each key of an order, and how it is read. */
const readers = {
  mode: (body: JsonObject) => oneOf(body, "mode", recordingModes),
  tape: (body: JsonObject) => textIn(body, "tape"),
  include: (body: JsonObject) => textsIn(body, "include"),
  exclude: (body: JsonObject) => textsIn(body, "exclude"),
  redact: (body: JsonObject) => oneOf(body, "redact", redactions),
  allow_writes: (body: JsonObject) => switchIn(body, "allow_writes"),
} as const;

function orderOf(body: JsonObject): RecordingOrder {
  allowKeys(body, ["upstream", ...Object.keys(readers)]);
  const upstream = textIn(body, "upstream");
  if (upstream === undefined) {
    throw new SimError("invalid_input", '"upstream" is needed', {
      pointer: "/upstream",
      hint: "give us, eu, or an address such as https://posthog.example.com",
    });
  }
  const rest = Object.entries(readers).flatMap(([key, read]) => {
    const value = read(body);
    return value === undefined ? [] : [[key, value] as const];
  });
  return { upstream, ...Object.fromEntries(rest) };
}

/** How the control API names what a recording cannot start for. */
const codes: Readonly<Record<RecordingError["code"], readonly [ErrorCode, pointer: string | undefined]>> = {
  upstream: ["invalid_input", "/upstream"],
  offline: ["invalid_input", "/upstream"],
  tape: ["invalid_input", "/tape"],
  running: ["conflict", undefined],
};

async function start({ recordings }: RecordingDesk, call: Call): Promise<Reply> {
  const order = orderOf(bodyOf(call));
  try {
    return json(await recordings.start(order));
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    const [code, pointer] = codes[error.code];
    throw new SimError(code, error.message, { hint: error.hint, ...(pointer && { pointer }), cause: error });
  }
}

const rows: readonly ControlRow<RecordingDesk>[] = [
  [
    "GET",
    "/__sim/recording",
    "What is recorded, from where, and how it goes",
    ({ recordings }) => json(recordings.facts()),
  ],
  [
    "POST",
    "/__sim/recording/start",
    "Passes requests on to an upstream and tapes them: upstream, mode, tape, include, exclude, redact",
    start,
  ],
  [
    "POST",
    "/__sim/recording/stop",
    "Ends the recording and closes the tape; from then on the emulator answers again",
    async ({ recordings }, call) => {
      allowKeys(bodyOf(call), []);
      return json(await recordings.stop());
    },
  ],
];

/** Recording of what upstreams answer. */
export const recordingEndpoints = (desk: RecordingDesk): Endpoint[] => endpointsOf(rows, desk);
