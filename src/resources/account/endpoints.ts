import type { Endpoint } from "../../http/endpoint.ts";
import { isUuid } from "../../kernel/ids.ts";
import type { User } from "../../model/world.ts";
import { type Caller, denied, found } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import type { Memberships } from "../memberships.ts";
import { accountEndpoint } from "../row.ts";
import { AccountChanges } from "./body.ts";
import { openAccountChange } from "./change.ts";
import { AccountShape, type openAccountView } from "./show.ts";

interface Parts {
  memberships: Memberships;
  view: ReturnType<typeof openAccountView>;
}

/** The caller's own account. Upstream PostHog/posthog posthog/api/user.py. */
export function accountEndpoints(desk: ResourceDesk, { memberships, view }: Parts): Endpoint[] {
  const change = openAccountChange(desk, memberships);

  /** Who the path means. @throws SimError permission_denied, not_found */
  function userNamed(id: string, { user }: Caller): User {
    if (id === "@me") return user;
    if (!user.is_staff) {
      throw denied("As a non-staff user you're only allowed to access the `@me` user instance.");
    }
    const uuid = isUuid(id) ? id.toLowerCase() : undefined;
    return found(desk.worlds.current.users.find((it) => it.uuid === uuid && it.is_active));
  }

  return [
    accountEndpoint(desk, {
      methods: ["GET"],
      path: "/api/users/:uuid",
      summary: "The caller's account, as `@me`",
      scope: "user:read",
      reply: AccountShape,
      handle: ({ caller, param }) => view(userNamed(param("uuid"), caller)),
    }),
    accountEndpoint(desk, {
      methods: ["PATCH", "PUT"],
      path: "/api/users/:uuid",
      summary: "Changes the caller's account, also what `@current` means",
      scope: "user:write",
      body: AccountChanges,
      reply: AccountShape,
      handle({ caller, param, body }) {
        const user = userNamed(param("uuid"), caller);
        return view(change(user, body()));
      },
    }),
  ];
}
