/** Lengths beyond which a text is not looked at. */
const longest = 2000;

const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Is it a day that the calendar has? */
function isDateTime(text: string): boolean {
  const [, year, month, day] = dateTime.exec(text) ?? [];
  if (day === undefined || Number(month) > 12) return false;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return date.getUTCDate() === Number(day);
}

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const email = new RegExp(
  `^[a-z0-9_+-]{1,64}(?:\\.[a-z0-9_+-]{1,64}){0,4}@(?:${label}\\.){1,8}[a-z]{2,24}$`,
  "i",
);
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const uri = new RegExp(
  `^https?://(?:${label}\\.){0,8}${label}(?::\\d{1,5})?(?:[/?](?:[\\w.~:/?@!$&()*+,;=-]|%[0-9a-f]{2})*)?(?:#(?:[\\w.~:/?@-]|%[0-9a-f]{2})*)?$`,
  "i",
);

const rows: readonly (readonly [format: string, isIt: (text: string) => boolean])[] = [
  ["date-time", isDateTime],
  ["uuid", (text) => uuid.test(text)],
  ["email", (text) => text.length <= 254 && email.test(text)],
  ["uri", (text) => uri.test(text)],
];

/**
 * The format that a text has, if it has one of those that plans are inferred with. Narrower than the formats
 * themselves: what is found here passes every check of the format.
 */
export const formatOf = (text: string): string | undefined =>
  text.length > longest ? undefined : rows.find(([, isIt]) => isIt(text))?.[0];
