import { unresolved } from "../redact/bind.ts";
import { type Placeholder, placeholdersIn } from "../redact/placeholders.ts";
import type { Exchange } from "../types.ts";
import { isLeftOut } from "./headers.ts";
import type { GivenKeys } from "./types.ts";

/** Which of the given keys stands for which kind of placeholder. */
const givenFor: Readonly<Record<string, keyof GivenKeys>> = {
  project_key: "project",
  personal_api_key: "personal",
  secret_api_key: "personal",
  oauth_access_token: "personal",
  authorization: "personal",
};

/** Which of the keys a placeholder needs; undefined: none of them helps. */
export const keyNeeded = (kind: string): keyof GivenKeys | undefined =>
  Object.hasOwn(givenFor, kind) ? givenFor[kind] : undefined;

/** What a placeholder becomes; undefined: nobody knows. */
export function keyFor({ kind }: Placeholder, keys: GivenKeys): string | undefined {
  const needed = keyNeeded(kind);
  return needed === undefined ? undefined : keys[needed];
}

/** The placeholders of a request, each once, in what would be sent of it. */
export function placeholdersOf({ req }: Exchange): Placeholder[] {
  const headers = req.headers.filter(([name]) => !isLeftOut(name)).flatMap(([, value]) => value);
  const texts = [req.url, ...headers, ...unresolved(req.body)];
  const found = texts.flatMap(placeholdersIn);
  return [...new Map(found.map((it) => [it.text, it])).values()];
}
