import { clean } from "../../cli/clean-text.ts";
import { Failure } from "../../cli/failure.ts";
import { readEventFilter } from "../filter/read.ts";
import type { FilterReading } from "../filter/types.ts";

/** The option `--filter`. */
export const filterOption = {
  kind: "word",
  describe: `Search expression: 'event:signup prop.amount:>10 -is:dropped'`,
  flagOnly: true,
} as const;

/** The filter, if it is valid. @throws Failure usage with the place of the mistake */
export function checkedFilter(
  text: string | undefined,
  read: (text: string) => FilterReading<never> = readEventFilter,
): string | undefined {
  if (text === undefined) return undefined;
  const reading = read(text);
  if ("filter" in reading) return text;
  const { at = 0, message = "", hint } = reading.problems[0] ?? {};
  const advice = hint === undefined ? "" : `; ${hint}`;
  throw new Failure("usage", clean(`--filter is wrong at character ${at + 1}: ${message}${advice}`));
}
