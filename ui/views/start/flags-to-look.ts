import { nearest } from "../../../src/kernel/base/nearest.ts";
import type { Info } from "../../../src/lab/scenario/state/info-shapes.ts";
import type { FlagTotal } from "../../../src/service/flags/decision-shapes.ts";
import type { FlagSummary } from "../../../src/service/flags/shapes.ts";
import { counted } from "../../parts/text.ts";
import { askedFor, undefinedFlags } from "../../parts/undefined-flags.ts";

type Warning = Info["scenario_warnings"][number];

/** A flag, and what to look at. */
export interface FlagToLook {
  /** undefined: a warning that is about no flag, or about several. */
  readonly key: string | undefined;
  readonly isDefined: boolean;
  readonly text: string;
  /** A similar key that is defined. */
  readonly meant: string | undefined;
  /** How often it was asked for; undefined for a warning of the scenario. */
  readonly asked: number | undefined;
}

const most = 8;
/** Keys that are compared with all others: the comparison is slow. */
const mostGuesses = 20;

const unescaped = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");

/** The key of the flag that a JSON pointer leads into. */
function keyIn(pointer: string): string | undefined {
  const steps = pointer.split("/").map(unescaped);
  const at = steps.findIndex((it) => it === "flags" || it === "feature_flags");
  const key = at === -1 ? undefined : steps[at + 1];
  return key === "" ? undefined : key;
}

interface Known {
  readonly flags: readonly FlagSummary[];
  readonly totals: readonly FlagTotal[];
  readonly warnings: readonly Warning[];
}

/** Flags that are asked for and not defined, used with another value than was decided, or that cannot work. */
export function flagsToLook({ flags, totals, warnings }: Known): {
  readonly list: readonly FlagToLook[];
  readonly more: number;
  readonly others: number;
} {
  const keys = [...new Set(flags.filter(({ id }) => id !== null).map(({ key }) => key))];
  const strangers = undefinedFlags(flags, totals);
  const isUndefined = ({ project, key }: FlagTotal) => strangers.some((it) => it.project === project && it.key === key);
  const found: FlagToLook[] = [
    ...strangers.map((it, i) => ({
      key: it.key,
      isDefined: false,
      text: "asked for, not defined",
      meant: i < mostGuesses ? nearest(it.key, keys.slice(0, 1_000)) : undefined,
      asked: askedFor(it),
    })),
    ...totals
      .filter((it) => it.differs > 0 && it.project !== null && !isUndefined(it))
      .map((it) => ({
        key: it.key,
        isDefined: true,
        text: `${counted(it.differs, "use")} with another value than was decided`,
        meant: undefined,
        asked: askedFor(it),
      })),
    ...warnings.map((it) => {
      const key = keyIn(it.pointer);
      const flag = key !== undefined && keys.includes(key) ? key : undefined;
      return { key: flag, isDefined: flag !== undefined, text: it.message, meant: undefined, asked: undefined };
    }),
  ];
  const looked = new Set(found.filter((it) => it.isDefined).map(({ key }) => key));
  return {
    list: found.slice(0, most),
    more: Math.max(0, found.length - most),
    others: keys.filter((it) => !looked.has(it)).length,
  };
}
