import { isObject, type Json, type JsonObject, mapMembers } from "../../kernel/base/json.ts";
import { atOnce } from "../../kernel/base/work.ts";
import { createMemory } from "../../lab/tapes/redact/memory.ts";
import { createPersonal, type Personal } from "../../lab/tapes/redact/personal.ts";
import { createSecretRules, type TapeRules } from "../../lab/tapes/redact/rules.ts";
import { SecretFilter } from "../../lab/tapes/redact/secret-filter.ts";
import { isPublic } from "../../lab/tapes/redact/shapes.ts";

export interface Redacted {
  /** `flags.beta.filters.groups[0].properties[0].value` */
  readonly path: string;
  /** True if it is in conditions of a flag or a cohort: their decisions change. */
  readonly decides: boolean;
}

/** Properties of places are no personal data in a condition: a flag for a country names it. */
const isPlace = (key: string): boolean => /(?:^|_)geoip_/.test(key);

const decides = (path: string): boolean => /^(?:flags|cohorts)\b.*\bfilters\b.*\bvalue(?:\[\d+\])*$/.test(path);

/** @param keep Values that stay wherever they are whole values. */
export function createCleaner(keep: readonly string[] = [], rules?: TapeRules) {
  const kept = new Set(keep);
  const memory = createMemory();
  const found = new Map<string, Redacted>();
  const note = (path: string): void => void found.set(path, { path, decides: decides(path) });
  const known = createPersonal(note);
  const personal: Personal = {
    reserve: known.reserve,
    value: (value, spot, path) => (kept.has(String(value)) ? undefined : known.value(value, spot, path)),
    text: (text, path) => (kept.has(text) ? text : known.text(text, path)),
  };
  const filter = new SecretFilter({
    take(kind, secret, path) {
      if (isPublic(kind) || kept.has(secret)) return secret;
      note(path);
      return memory.placeholder(kind, secret);
    },
    memory,
    secretRules: createSecretRules(rules),
    personal,
  });
  /** The values of conditions: what they are is in the name of the property. */
  function conditions(value: Json, path: string): Json {
    if (Array.isArray(value)) return value.map((it, i) => conditions(it, `${path}[${i}]`));
    if (!isObject(value)) return value;
    const { key, type } = value;
    return mapMembers(value, (name, it) => {
      const at = `${path}.${name}`;
      const isValue = name === "value" && typeof key === "string" && !isPlace(key) && type !== "cohort";
      return [name, isValue ? ofProperty(String(key), type, it, at) : conditions(it, at)];
    });
  }
  function ofProperty(name: string, type: Json | undefined, value: Json, path: string): Json {
    if (Array.isArray(value)) return value.map((it, i) => ofProperty(name, type, it, `${path}[${i}]`));
    // a domain or a pattern is no address; addresses are found by their form
    if (typeof value !== "string" || value.includes("@")) return value;
    const around = type === "person" || type === undefined ? ["$person_properties"] : [];
    const standIn = personal.value(value, { name, path, around }, path);
    return typeof standIn === "string" ? standIn : value;
  }
  return {
    /** @returns undefined if the document is nested too deep to be searched */
    clean(document: JsonObject, path: string) {
      const safe = atOnce(filter.json(conditions(document, path), path));
      return isObject(safe) ? safe : undefined;
    },
    /** In the order of their replacement. */
    get redacted() {
      return [...found.values()];
    },
  };
}
