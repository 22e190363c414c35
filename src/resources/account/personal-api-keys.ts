import { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import type { PersonalApiKey } from "../../model/world.ts";
import { anyScope, type Caller, denied, found } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import { accountEndpoint } from "../row.ts";

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

const show = (it: PersonalApiKey): z.infer<typeof KeyShape> => ({
  id: it.id,
  label: it.label,
  value: null,
  mask_value: `${it.key.slice(0, 4)}...${it.key.slice(-4)}`,
  created_at: it.created_at,
  last_used_at: null,
  user_id: it.user,
  scopes: it.scopes,
  scoped_teams: it.scoped_teams,
  scoped_organizations: it.scoped_organizations,
  last_rolled_at: null,
});

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
    accountEndpoint(desk, {
      methods: ["GET"],
      path: "/api/personal_api_keys/:id",
      summary: "The key that asks, by id or as `@current`",
      scope: anyScope,
      reply: KeyShape,
      handle: ({ caller, param }) => show(keyNamed(param("id"), caller)),
    }),
    accountEndpoint(desk, {
      methods: ["GET"],
      path: "/api/personal_api_keys",
      summary: "Refused: keys do not list keys",
      scope: anyScope,
      handle() {
        throw onlyItself();
      },
    }),
  ];
}
