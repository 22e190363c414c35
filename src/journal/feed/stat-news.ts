import type { Stat } from "./frames.ts";

/** The clock's distance from the machine's may seem to change by so much while it runs, ms. */
const jitter = 500;

const distance = ({ at, clock }: Stat): number => (clock.frozen ? clock.now : clock.now - at);

const withoutTime = ({ at: _, clock, ...rest }: Stat): string =>
  JSON.stringify([rest, clock.frozen, clock.real]);

/** Is there anything to tell? That time goes by is not. */
export const isNews = (stat: Stat, told: Stat | undefined): boolean =>
  told === undefined ||
  withoutTime(stat) !== withoutTime(told) ||
  Math.abs(distance(stat) - distance(told)) > (stat.clock.frozen ? 0 : jitter);
