import { wireTime } from "../world/time.ts";

/** When everything was made whose time a scenario does not give: the same scenario, the same world. */
export const beginning = "2025-01-01T00:00:00Z";

const wireShape = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/;

/** A time as the world keeps it (model/time.ts); microseconds that were given stay. */
const wire = (time: string): string => (wireShape.test(time) ? time : wireTime(Date.parse(time)));

export const timeOr = <T extends string | null>(time: string | null | undefined, otherwise: T): string | T =>
  typeof time === "string" ? wire(time) : otherwise;
