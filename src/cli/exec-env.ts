import { type Access, envGroups } from "../kernel/env-names.ts";
import { clean } from "./clean-text.ts";

/** What the value of a variable is. */
type ValueKind = "address" | "project key (phc_…)" | "personal key (phx_…)" | "project id";

/** The variables that point a program at the sim: all the names that SDKs, frameworks and tools read. */
export const childVariables = (access: Access): Record<string, string> => ({
  ...Object.fromEntries(envGroups(access, undefined).flatMap(({ variables }) => variables)),
  PHX_SIM_PROJECT_ID: String(access.project_id),
});

const kindOf = (value: string, access: Access): ValueKind => {
  const kinds: readonly (readonly [string, ValueKind])[] = [
    [access.url, "address"],
    [access.project_api_key, "project key (phc_…)"],
    [access.personal_api_key, "personal key (phx_…)"],
  ];
  return kinds.find(([known]) => known === value)?.[1] ?? "project id";
};

/** Addresses and ids can be shown; of a key its kind is what one wants to know. */
const shown = (kind: ValueKind, value: string): string =>
  kind === "address" || kind === "project id" ? `${kind} ${clean(value)}` : kind;

/** What bundlers let through has their prefix before `POSTHOG_`. */
const prefixed = /^([A-Z]\w*?_)(POSTHOG_\w+)$/;

/** `key → all its values`, each once, in the order of their first times. */
function grouped(pairs: readonly (readonly [key: string, value: string])[]): [string, string[]][] {
  const groups = new Map<string, Set<string>>();
  for (const [key, value] of pairs) groups.set(key, (groups.get(key) ?? new Set()).add(value));
  return [...groups].map(([key, values]) => [key, [...values]]);
}

/**
 * Which variables are set, and which kind of key each one is: `POSTHOG_API_KEY = project key (phc_…)`. Those of the
 * frameworks share a line.
 */
export function variableLines(variables: Readonly<Record<string, string>>, access: Access): string[] {
  const rows = Object.entries(variables).map(([name, value]) => {
    const [, prefix, tail = name] = prefixed.exec(name) ?? [];
    return { prefix, tail, value, kind: kindOf(value, access) };
  });
  const plain = rows.filter(({ prefix }) => prefix === undefined);
  const lines = grouped(plain.map(({ tail, kind, value }) => [shown(kind, value), tail])).map(
    ([kind, names]) => `  ${names.join(", ")} = ${kind}`,
  );
  const framed = rows.filter(({ prefix }) => prefix !== undefined);
  if (framed.length === 0) return lines;
  const prefixes = [...new Set(framed.map(({ prefix }) => prefix))].join(", ");
  const told = grouped(framed.map(({ kind, tail }) => [kind, tail])).map(
    ([kind, names]) => `${names.join(", ")} = ${kind}`,
  );
  return [...lines, `  and with ${prefixes} before: ${told.join("; ")}`];
}
