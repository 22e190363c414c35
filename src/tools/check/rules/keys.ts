/** What a key is, by its form. */
export type KeyKind = "project" | "personal" | "secret" | "placeholder" | "missing";

const placeholder =
  /your|placeholder|example|changeme|replace|insert|todo|dummy|project_api_key|project_token|api[_-]?key|[<>{}[\]$%\s]|x{4,}|\.{3}|^(?:undefined|null|nan|false|true|test|key|token)$/i;

/** The length of the service's keys: `phc_` and 43 characters; the oldest have no prefix. */
const shortest = 20;

export function keyKindOf(key: string): KeyKind {
  if (key.trim() === "") return "missing";
  if (/^phx_/.test(key)) return "personal";
  if (/^ph[a-z]_/.test(key) && !key.startsWith("phc_")) return "secret";
  const own = key.replace(/^phc_/, "");
  return placeholder.test(own) || own.length < shortest || !/^[\w-]+$/.test(own) ? "placeholder" : "project";
}

/** True if the service would refuse the key. */
export const isBadKey = (key: string): boolean => keyKindOf(key) !== "project";

/** A key for reports: secret ones are not shown. */
export const shownKey = (key: string): string => {
  const kind = keyKindOf(key);
  if (kind === "personal" || kind === "secret") return `${key.slice(0, 4)}…`;
  return key.length > 40 ? `${key.slice(0, 12)}…` : JSON.stringify(key);
};
