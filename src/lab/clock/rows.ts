import type { Agenda } from "../../kernel/base/agenda.ts";
import { type ClockStart, isoOf, type SimClock, timeRange } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import { durationText } from "../../kernel/base/time-text.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { clockFacts } from "./facts.ts";
import { ClockAdvance, ClockAdvanced, ClockChange, ClockFacts, ClockSet } from "./shapes.ts";

interface ClockPorts {
  readonly clock: SimClock;
  readonly agenda: Agenda;
  readonly clockStart: ClockStart;
}

function move(clock: SimClock, { now, frozen }: ClockChange): void {
  if (now === "real") {
    clock.start({ at: now, frozen: frozen ?? false });
    return;
  }
  // frozen first: between set and freeze a running clock may reach the next millisecond
  if (frozen === true) clock.freeze();
  if (now !== undefined) clock.set(now);
  if (frozen === false) clock.run();
}

/** @returns ms by which the clock was moved back, or 0 */
async function change(agenda: Agenda, order: ClockChange): Promise<number> {
  let back = 0;
  await agenda.change((clock) => {
    const before = clock.now();
    move(clock, order);
    if (order.now !== undefined) back = Math.max(0, before - clock.now());
  });
  return back;
}

const backHint = (back: number): string | null =>
  back === 0
    ? null
    : `the clock went back by ${durationText(back)}: existing data keeps its later times, and finished work is not repeated`;

export const clockSlice = slice(["clock", "agenda", "clockStart"], (ports: ClockPorts) => {
  const { clock, agenda, clockStart } = ports;
  const show = () => clockFacts(clock, agenda, clockStart);
  return [
    row({
      method: "GET",
      path: "/__sim/clock",
      access: "control",
      summary: "Shows the sim's time, whether it stands still, and when the next work is due",
      reply: ClockFacts,
      handle: show,
    }),
    row({
      method: "PUT",
      path: "/__sim/clock",
      access: "control",
      summary: "Sets, freezes or resumes the clock; performs no work that is due",
      body: ClockChange,
      reply: ClockSet,
      async handle({ body }) {
        const back = await change(agenda, body);
        return { ...show(), hint: backHint(back) };
      },
    }),
    row({
      method: "POST",
      path: "/__sim/clock/advance",
      access: "control",
      summary: "Advances the clock by a duration and returns the work that became due, in order",
      body: ClockAdvance,
      reply: ClockAdvanced,
      async handle({ body, call }) {
        if (clock.now() + body.by > timeRange.last) {
          throw new SimError("invalid_input", "the clock ends with the year 9999", {
            pointer: "/by",
            hint: `the clock shows ${isoOf(clock.now())}`,
          });
        }
        const happened = await agenda.advance(body.by, call.signal);
        return { ...show(), happened: happened.map((it) => ({ ...it })) };
      },
    }),
  ];
});
