import { randomBytes, randomInt } from "node:crypto";
import { z } from "zod";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import type { PersonalApiKey } from "../../state/documents/world.ts";
import { anyScope, type Caller, denied, found } from "../api-frame/access.ts";
import type { ResourceDesk } from "../api-frame/desk.ts";
import { shownAs } from "../api-frame/fields.ts";
import { inAccount, managementRow } from "../api-frame/row.ts";

const KeyShape = z
  .object({
    id: z.string(),
    label: z.string(),
    value: z.null(),
    mask_value: z.string(),
    created_at: z.string(),
    last_used_at: z.null(),
    user_id: z.int(),
    scopes: z.array(z.string()),
    scoped_teams: z.array(z.int()),
    scoped_organizations: z.array(z.string()),
    last_rolled_at: z.null(),
  })
  .meta({ title: "PersonalApiKey" });

const show = (it: PersonalApiKey) =>
  shownAs(KeyShape, { ...it, mask_value: `${it.key.slice(0, 4)}...${it.key.slice(-4)}`, user_id: it.user });

const onlyItself = () => denied("This action does not support Personal API Key access");

/** A key may read itself and nothing more. Upstream PostHog/posthog posthog/api/personal_api_key.py. */
export function personalApiKeyEndpoints(desk: ResourceDesk): Endpoint[] {
  function keyNamed(id: string, { user, key }: Caller): PersonalApiKey {
    if (id === "@current" || id === key.id) return key;
    const other = desk.worlds.get("personal_api_keys", id);
    found(other?.user === user.id ? other : undefined);
    throw onlyItself();
  }
  return [
    ...managementRow(desk, {
      method: "GET",
      path: "/api/personal_api_keys/:id",
      summary: "The key that asks, by id or as `@current`",
      access: inAccount(anyScope),
      reply: KeyShape,
      handle: ({ caller, param }) => show(keyNamed(param("id"), caller)),
    }),
    ...managementRow(desk, {
      method: "GET",
      path: "/api/personal_api_keys",
      summary: "Refused: keys do not list keys",
      access: inAccount(anyScope),
      handle() {
        throw onlyItself();
      },
    }),
  ];
}

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Bytes as a number to the base of 62. */
function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; rest > 0n; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text;
}

/** A new key of a project: 32 random bytes. Upstream PostHog/posthog posthog/models/utils.py. */
export const newProjectKey = (prefix: "phc_" | "phs_"): string => prefix + base62(randomBytes(32));

/** What opens a shared dashboard: 22 random bytes in 30 characters that need no escape in a URL. */
export const newAccessToken = (): string => randomBytes(22).toString("base64url");

/** Lower-case letters that make a taken slug another. */
export const randomLetters = (count: number): string =>
  Array.from({ length: count }, () => String.fromCharCode(97 + randomInt(26))).join("");
