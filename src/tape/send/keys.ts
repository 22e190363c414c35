import { unresolved } from "../redact/bind.ts";
import { type Placeholder, placeholdersIn } from "../redact/placeholders.ts";
import type { Exchange } from "../types.ts";
import { isLeftOut } from "./headers.ts";
import type { GivenKeys } from "./types.ts";

/** A key that an option gives, for all placeholders of some kinds. */
type KeyName = "project" | "personal";

/** Which of the given keys stands for which kind of placeholder. */
const givenFor: Readonly<Record<string, KeyName>> = {
  project_key: "project",
  personal_api_key: "personal",
  secret_api_key: "personal",
  oauth_access_token: "personal",
  authorization: "personal",
};

/** Which of the keys a placeholder needs; undefined: none of them helps. */
export const keyNeeded = (kind: string): KeyName | undefined =>
  Object.hasOwn(givenFor, kind) ? givenFor[kind] : undefined;

/** What a placeholder becomes, its own value before that of its kind; undefined: it is not given. */
export function keyFor(placeholder: Placeholder, keys: GivenKeys): string | undefined {
  const needed = keyNeeded(placeholder.kind);
  return keys.secret?.(placeholder) ?? (needed === undefined ? undefined : keys[needed]);
}

/** What is sent for a placeholder. `stand_in`: a visible fake; `needs_key`, `unknown`: nothing can be sent. */
export type Filling = "given" | "needs_key" | "stand_in" | "unknown";

/** Keys are never replaced by stand-ins: a service refuses them. */
export function fillingOf(placeholder: Placeholder, keys: GivenKeys): Filling {
  if (keyFor(placeholder, keys) !== undefined) return "given";
  if (keyNeeded(placeholder.kind) !== undefined) return "needs_key";
  return keys.fill === "redacted" ? "stand_in" : "unknown";
}

/** The placeholders of a request, each once, in what would be sent of it. */
export function placeholdersOf({ req }: Exchange): Placeholder[] {
  const headers = req.headers.filter(([name]) => !isLeftOut(name)).flatMap(([, value]) => value);
  const texts = [req.url, ...headers, ...unresolved(req.body)];
  const found = texts.flatMap(placeholdersIn);
  return [...new Map(found.map((it) => [it.text, it])).values()];
}
