import type { DecidedFlag, FlagDecision } from "../../service/flags/decision-shapes.ts";
import type { FlagInForce, FlagSpan } from "./shapes.ts";

/** Flags of a journey, and values of one flag; of both the newest. */
const mostFlags = 60;
const mostSpans = 100;

function whyOf({ reason, condition_index: index }: DecidedFlag): string | null {
  if (reason === null) return null;
  if (reason.code === "condition_match" && index !== null) return `set ${index + 1}`;
  if (reason.code === "override") return "override";
  return reason.description.slice(0, 200) || reason.code || null;
}

/** True if the answer would have the flag: it then ends where it is missing. */
const covers = ({ by, status, asked }: FlagDecision, key: string): boolean =>
  by === "answer" && status === 200 && (asked?.keys?.includes(key) ?? true);

/** The values of flags over time. The sim's clock may have been set back: the order of arrival is not that of time. */
export function spansOf(
  decisions: readonly FlagDecision[],
  uses: ReadonlyMap<string, number>,
): { flags: FlagInForce[]; left_out: number } {
  const found = new Map<string, FlagSpan[]>();
  for (const made of decisions.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const given = new Map(made.flags.map((it) => [it.key, it]));
    for (const [key, spans] of found) {
      const last = spans.at(-1);
      if (last?.to === null && !given.has(key) && covers(made, key)) last.to = made.at;
    }
    for (const [key, flag] of given) {
      if (flag.value === null) continue;
      const spans = found.get(key) ?? [];
      found.set(key, spans);
      const last = spans.at(-1);
      if (last?.to === null && last.value === flag.value) continue;
      if (last?.to === null) last.to = made.at;
      spans.push({ value: flag.value, from: made.at, to: null, why: whyOf(flag), request: made.request });
      if (spans.length > mostSpans) spans.shift();
    }
  }
  const flags = Array.from(found, ([key, spans]) => ({ key, used: uses.get(key) ?? 0, spans }));
  // those that changed or were used are what one looks for
  const ranked = flags.sort((a, b) => b.spans.length - a.spans.length || b.used - a.used);
  return { flags: ranked.slice(0, mostFlags), left_out: Math.max(0, ranked.length - mostFlags) };
}
