/** A reference to a cohort or a flag: its number, also as text; undefined for anything else. */
export function referenceIn(value: unknown): number | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
