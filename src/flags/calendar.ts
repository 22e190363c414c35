/** A date and time as a wall clock; NaN when the calendar has no such day or the day no such time. */
export function wallClockOf(
  year: number,
  month: number,
  date: number,
  hours = 0,
  minutes = 0,
  seconds = 0,
): number {
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, date);
  const isReal = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === date;
  if (!isReal || hours > 23 || minutes > 59 || seconds >= 61) return Number.NaN;
  return midnight.getTime() + hours * 3_600_000 + minutes * 60_000 + seconds * 1000;
}
