import { times } from "../base/text.ts";
import { clean } from "./clean-text.ts";
import type { Style } from "./style.ts";

/** Equal mistakes that a check found, counted. */
interface Finding {
  readonly code: string;
  /** Name of the event, method and path of the request, or the place; safe to print. */
  readonly what: string;
  /** What happened, and why; safe to print. */
  readonly sentence: string;
  /** "" if nothing is known. */
  readonly fix: string;
  readonly count: number;
}

/** `signed_up ×3 missing_distinct_id: it has none → send one` */
export const findingText = ({ what, count, code, sentence, fix }: Finding): string =>
  `${what}${times(count)} ${clean(code, 60)}: ${sentence}${fix && ` → ${clean(fix)}`}`;

/** The words for how grave findings are, in all reports, with their rank. */
const ranks = { problem: 0, error: 0, break: 0, warning: 1, additive: 1, hint: 2, info: 2, value: 2, ok: 3 } as const;
export type FindingLevel = keyof typeof ranks;

const emphases = ["bad", "bold", "dim", "good"] as const satisfies (keyof Style)[];
const signs = ["✗", "!", "·", "✓"] as const;

export const emphasized = (level: FindingLevel, text: string, style: Style): string =>
  style[emphases[ranks[level]]](text);

export const signOf = (level: FindingLevel, style: Style): string => emphasized(level, signs[ranks[level]], style);

/** True if a level is `limit` or worse: the exit code of checks depends on it. */
export const isAtLeast = (level: FindingLevel, limit: FindingLevel): boolean => ranks[level] <= ranks[limit];

/** Sorts the worst first. */
export const byLevel = (a: FindingLevel, b: FindingLevel): number => ranks[a] - ranks[b];
