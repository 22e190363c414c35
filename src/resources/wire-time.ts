/** `2025-03-01T10:00`, with or without seconds, up to six decimals and a zone. */
const pattern =
  /^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d*)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

function offsetMinutes(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === "Z") return 0;
  const digits = zone.slice(1).replace(":", "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || 0);
  return zone.startsWith("-") ? -minutes : minutes;
}

/** Is it a day that the calendar has? `Date.UTC` would roll 31 June over to July. */
function isReal(numbers: readonly number[]): boolean {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  const date = new Date(Date.UTC(year, month - 1, day));
  return (
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    hour < 24 &&
    minute < 60 &&
    second < 60
  );
}

/** Does the text name a time zone? The service asks for one in backfills. */
export const hasZone = (text: string): boolean => pattern.exec(text.trim())?.[8] !== undefined;

/**
 * A date with time as the service reads it, as a wire time (UTC, microseconds unless zero); undefined when it
 * is none. Upstream Django, `parse_datetime`.
 */
export function readWireTime(text: string): string | undefined {
  const parts = pattern.exec(text.trim());
  if (!parts) return undefined;
  const numbers = parts.slice(1, 7).map((it) => Number(it ?? 0));
  if (!isReal(numbers)) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  const ms = Date.UTC(year, month - 1, day, hour, minute - offsetMinutes(parts[8]), second);
  const micros = (parts[7] ?? "").padEnd(6, "0");
  const whole = new Date(ms).toISOString().slice(0, 19);
  return micros === "000000" ? `${whole}Z` : `${whole}.${micros}Z`;
}
