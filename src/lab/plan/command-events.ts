import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { isObject, type JsonObject, parsedJson } from "../../kernel/base/json.ts";
import { queryText } from "../../kernel/call/call.ts";
import { type Address, callSim } from "../../kernel/command/ask-sim.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { Failure } from "../../kernel/command/failure.ts";
import type { EventPage } from "../../state/journal/stored-event.ts";
import type { PlannableEvent } from "./plan.ts";

/** The largest page that the sim returns. */
const page = 10_000;

/** The sim's kept events, page by page. */
export async function* simEvents(
  sim: Address,
  which: { readonly project?: number; readonly since?: number; readonly event?: string },
): AsyncGenerator<PlannableEvent> {
  let since = which.since ?? 0;
  for (let more = true; more; ) {
    const query = queryText({ outcome: "kept", limit: page, ...which, since });
    const answer = await callSim<EventPage>(sim, "GET", `events${query}`);
    yield* answer.events;
    more = answer.more && answer.cursor > since;
    since = answer.cursor;
  }
}

/** The events of an NDJSON file, such as the `events.ndjson` of a report. @throws Failure with the line */
export async function* fileEvents(file: string): AsyncGenerator<PlannableEvent> {
  let number = 0;
  const input = createReadStream(file, "utf8");
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line.trim() !== "") yield eventIn(line.replace(/^\ufeff/, ""), number, file);
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    const reason = code === "ENOENT" ? "there is no such file" : code;
    throw new Failure("usage", `${clean(file)} cannot be read: ${reason}`, error);
  } finally {
    input.destroy();
  }
}

function eventIn(line: string, number: number, file: string): PlannableEvent {
  const value = parsedJson(line);
  const { event, properties = {}, seq, distinct_id, outcome } = isObject(value) ? value : ({} as JsonObject);
  if (typeof event !== "string" || !isObject(properties)) {
    const expected = 'an event as JSON, with "event" and "properties"';
    throw new Failure("usage", `${clean(file)}:${number}: expected ${expected}`);
  }
  return {
    seq: typeof seq === "number" ? seq : number,
    event,
    distinct_id: typeof distinct_id === "string" ? distinct_id : "",
    ...(typeof outcome === "string" && { outcome }),
    properties,
  };
}
