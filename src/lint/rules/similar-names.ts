import { recentMap } from "../recent-map.ts";
import type { Rule } from "../types.ts";

const mostNames = 5_000;

/** What stays of a name without case and separators; `step_1_1` and `step_11` are two things. */
const coreOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/(\p{N})[^\p{L}\p{N}]+(?=\p{N})/gu, "$1.")
    .replace(/[^\p{L}\p{N}.]|(?<!\p{N})\.|\.(?!\p{N})/gu, "");

/** `similar_event_names`; the service's own names start with `$`. */
export function similarNames(): Rule {
  /** The spelling that came first, by core. */
  const spellings = recentMap<string, string>(mostNames);
  return {
    look({ events }, { tell }) {
      for (const { event, seq, dropped } of events) {
        if (dropped !== undefined || event.startsWith("$")) continue;
        const core = coreOf(event);
        if (core === "") continue;
        const first = spellings.get(core);
        if (first === undefined) spellings.set(core, event);
        else if (first !== event)
          tell({ code: "similar_event_names", event, subject: first, detail: `"${first}" came before`, seq });
      }
    },
  };
}
