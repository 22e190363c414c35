import type { Call } from "../http/call.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { json, type Reply } from "../http/reply.ts";
import { type SimClock, timeRange } from "../kernel/clock.ts";
import { type ClockFacts, clockFacts } from "../kernel/clock-facts.ts";
import { SimError } from "../kernel/errors.ts";
import type { Json, JsonObject } from "../kernel/json.ts";
import { durationText, readDuration, readTime } from "../kernel/time-text.ts";
import { allowKeys, bodyOf } from "./body.ts";
import type { ControlDesk } from "./desk.ts";

type ClockDesk = Pick<ControlDesk, "clock" | "agenda" | "clockStart">;

const showClock = ({ clock, agenda, clockStart }: ClockDesk): ClockFacts =>
  clockFacts(clock, agenda, clockStart);

const isoOf = (time: number): string => new Date(time).toISOString();

const invalid = (detail: string, pointer: string, hint: string): SimError =>
  new SimError("invalid_input", detail, { pointer, hint });

/** What a body wants of the clock; absent: as it is. */
interface Wish {
  now: number | "real" | undefined;
  frozen: boolean | undefined;
}

function wishOf(body: JsonObject): Wish {
  allowKeys(body, ["now", "frozen"]);
  const { now, frozen } = body;
  if (now === undefined && frozen === undefined)
    throw invalid('give "now", "frozen" or both', "", 'for example {"now": "2025-06-01T12:00:00Z"}');
  if (frozen !== undefined && typeof frozen !== "boolean")
    throw new SimError("invalid_input", '"frozen" must be true or false', { pointer: "/frozen" });
  return { now: now === undefined ? undefined : momentOf(now), frozen };
}

function momentOf(given: Json): number | "real" {
  const now = given === "real" ? given : readTime(given);
  if (now !== undefined) return now;
  throw invalid(
    '"now" must be a time from 1970 to 9999, or "real"',
    "/now",
    "for example 2025-06-01T12:00:00Z, or milliseconds since 1970",
  );
}

/** @returns ms by which the clock was moved back, or 0 */
async function apply({ agenda }: ClockDesk, { now, frozen }: Wish): Promise<number> {
  let back = 0;
  await agenda.change((clock) => {
    const before = clock.now();
    if (now === "real") clock.start({ at: now, frozen: frozen ?? false });
    else move(clock, now, frozen);
    if (now !== undefined) back = Math.max(0, before - clock.now());
  });
  return back;
}

function move(clock: SimClock, now: number | undefined, frozen: boolean | undefined): void {
  // frozen first: between set and freeze a running clock may reach the next millisecond
  if (frozen === true) clock.freeze();
  if (now !== undefined) clock.set(now);
  if (frozen === false) clock.run();
}

const backHint = (back: number): string | null =>
  back === 0
    ? null
    : `the clock went back by ${durationText(back)}: what was made before carries later times, and nothing is done again`;

async function put(desk: ClockDesk, call: Call): Promise<Reply> {
  const back = await apply(desk, wishOf(bodyOf(call)));
  return json({ ...showClock(desk), hint: backHint(back) });
}

function durationOf(by: Json | undefined): number {
  const ms = typeof by === "string" ? readDuration(by) : by;
  if (typeof ms === "number" && Number.isSafeInteger(ms) && ms >= 0) return ms;
  throw invalid(
    '"by" must be a duration that is not negative',
    "/by",
    "for example 1h, 90s, 1d12h (units: ms s m h d w), or milliseconds as a number",
  );
}

async function advance(desk: ClockDesk, call: Call): Promise<Reply> {
  const body = bodyOf(call);
  allowKeys(body, ["by"]);
  const by = durationOf(body.by);
  if (desk.clock.now() + by > timeRange.last)
    throw invalid("the clock ends with the year 9999", "/by", `it shows ${isoOf(desk.clock.now())}`);
  const happened = await desk.agenda.advance(by, call.signal);
  return json({ ...showClock(desk), happened });
}

/** The sim's time, and how to move it. */
export const clockEndpoints = (desk: ClockDesk): Endpoint[] => [
  {
    methods: ["GET"],
    path: "/__sim/clock",
    family: "control",
    summary: "The sim's time, whether it stands, and when something is due",
    handle: () => json(showClock(desk)),
  },
  {
    methods: ["PUT"],
    path: "/__sim/clock",
    family: "control",
    summary: "Sets, freezes or resumes the clock: now (a time, or real), frozen; performs nothing",
    handle: (call) => put(desk, call),
  },
  {
    methods: ["POST"],
    path: "/__sim/clock/advance",
    family: "control",
    summary: "Moves the clock on by a duration and answers with what became due on the way, in order",
    handle: (call) => advance(desk, call),
  },
];
