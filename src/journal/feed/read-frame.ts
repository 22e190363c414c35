import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { type ClientFrame, protocol } from "./frames.ts";

type Hello = Extract<ClientFrame, { t: "hello" }>;
export type Subscribe = Extract<ClientFrame, { t: "subscribe" }>;

export type FrameReading = { readonly frame: ClientFrame } | { readonly problem: string };

const isWhole = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const isText = (value: Json | undefined): value is string => typeof value === "string";
const isTextOrNull = (value: Json | undefined): value is string | null => value === null || isText(value);

const optional =
  (fits: (value: Json | undefined) => boolean) =>
  (value: Json | undefined): boolean =>
    value === undefined || fits(value);

type Check = readonly [key: string, fits: (value: Json | undefined) => boolean, wanted: string];

/** What the keys of each kind must be like. */
const checks: ReadonlyMap<string, readonly Check[]> = new Map([
  [
    "hello",
    [
      ["v", (v) => v === protocol, `${protocol}`],
      ["token", optional(isText), "text"],
    ],
  ],
  [
    "subscribe",
    [
      ["id", isWhole, "a whole number"],
      ["epoch", optional(isText), "text"],
      ["cursor", optional(isWhole), "a whole number"],
      ["project", optional(isWhole), "a whole number"],
      ["events", isTextOrNull, "text or null"],
      ["requests", isTextOrNull, "text or null"],
    ],
  ],
]);

function parsed(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What a client said, or what is wrong with it; keys that are not known are passed over. */
export function readFrame(text: string | null): FrameReading {
  const value = text === null ? undefined : parsed(text);
  if (value === undefined) return { problem: "a message must be a JSON object" };
  const rows = typeof value.t === "string" ? checks.get(value.t) : undefined;
  if (rows === undefined) return { problem: '"t" must be hello or subscribe' };
  const wrong = rows.find(([key, fits]) => !fits(value[key]));
  if (wrong !== undefined) return { problem: `${value.t}: "${wrong[0]}" must be ${wrong[2]}` };
  // The table has looked at it.
  return { frame: value as unknown as Hello | Subscribe };
}
