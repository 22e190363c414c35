import { isObject, type Json } from "../../kernel/json.ts";
import { recentMap } from "../recent-map.ts";
import type { LintEvent, Rule, RuleContext } from "../types.ts";

const mostGroups = 5_000;

const keyText = (key: Json | undefined): string | undefined =>
  typeof key === "string" && key !== "" ? key : typeof key === "number" ? String(key) : undefined;

const subjectOf = (type: string, key: string): string => JSON.stringify([type, key]);

/** Type and key of each group that an event belongs to. */
const groupsOf = ({ properties: { $groups } }: LintEvent): (readonly [string, string])[] =>
  isObject($groups)
    ? Object.entries($groups).flatMap(([type, value]) => {
        const key = keyText(value);
        return key === undefined ? [] : [[type, key] as const];
      })
    : [];

/** `group_without_identify`. What the sim knows from elsewhere (the scenario, an earlier run) counts as described. */
export function groupIdentify({ project, port }: RuleContext): Rule {
  const described = recentMap<string, true>(mostGroups);
  return {
    look({ events }, { tell, withdraw }) {
      for (const it of events) {
        if (it.dropped !== undefined) continue;
        const { $group_type: type, $group_key } = it.properties;
        const key = keyText($group_key);
        if (it.event === "$groupidentify" && typeof type === "string" && key !== undefined) {
          described.set(subjectOf(type, key), true);
          withdraw("group_without_identify", subjectOf(type, key));
          continue;
        }
        for (const [type, key] of groupsOf(it)) {
          const subject = subjectOf(type, key);
          if (described.has(subject)) continue;
          if (port.hasGroup(project, type, key)) described.set(subject, true);
          else {
            const detail = `$groups.${type} is ${key}`;
            tell({ code: "group_without_identify", event: it.event, subject, detail, seq: it.seq });
          }
        }
      }
    },
  };
}
