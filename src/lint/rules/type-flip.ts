import type { Json } from "../../kernel/json.ts";
import { madeIn, recentMap } from "../recent-map.ts";
import type { Rule } from "../types.ts";

const mostNames = 1_000;
/** Properties remembered per event name. */
const mostProperties = 200;

const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** In the words of the detail; undefined for null, which fits every type. */
function kindOf(value: Json): string | undefined {
  if (value === null) return undefined;
  if (Array.isArray(value)) return "list";
  return typeof value === "string" ? "text" : typeof value;
}

/** The text of another type's value is the usual mistake: say so. */
function toldKind(value: Json, kind: string): string {
  if (typeof value !== "string") return kind;
  if (number.test(value.slice(0, 40))) return "text that reads as a number";
  return value === "true" || value === "false" ? "text that reads as a boolean" : kind;
}

interface First {
  kind: string;
  told: string;
}

/** `property_type_flip`; properties of the service's own, which start with `$`, are as they are. */
export function typeFlip(): Rule {
  const names = recentMap<string, Map<string, First>>(mostNames);
  return {
    look({ events }, { tell }) {
      for (const { event, properties, seq, dropped } of events) {
        if (dropped !== undefined) continue;
        const known = madeIn(names, event, () => new Map<string, First>());
        for (const name of Object.keys(properties)) {
          const value = properties[name] ?? null;
          const kind = name.startsWith("$") ? undefined : kindOf(value);
          if (kind === undefined) continue;
          const first = known.get(name);
          if (first === undefined) {
            if (known.size < mostProperties) known.set(name, { kind, told: toldKind(value, kind) });
          } else if (first.kind !== kind) {
            const detail = `properties.${name} was ${first.told} first, then ${toldKind(value, kind)}`;
            tell({ code: "property_type_flip", event, subject: name, detail, seq });
          }
        }
      }
    },
  };
}
