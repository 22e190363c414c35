import { z } from "zod";
import { isUuid } from "../../kernel/base/text.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { UserShape } from "../../state/documents/field-kinds.ts";
import { numberChoice } from "../../state/documents/lenient-fields.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { Membership, User } from "../../state/documents/world.ts";
import { type CallPlace, denied, found, levels, type MemberLevel } from "../api-frame/access.ts";
import type { ResourceDesk } from "../api-frame/desk.ts";
import { invalid, shownAs } from "../api-frame/fields.ts";
import { pageOf, pageQuery, pageSchema, parametersOf } from "../api-frame/lists.ts";
import { inOrganization, managementRow, type Request } from "../api-frame/row.ts";
import { type Memberships, showUser } from "../api-frame/users.ts";
import { resettleUsers } from "./project-changes.ts";

const Member = z
  .object({
    id: z.string(),
    user: UserShape,
    level: z.literal([1, 8, 15]),
    joined_at: z.string(),
    updated_at: z.string(),
    is_2fa_enabled: z.literal(false),
    has_social_auth: z.literal(false),
    last_login: z.null(),
  })
  .meta({ title: "OrganizationMember" });

const memberQuery = pageQuery.extend({ email: z.string().describe("Only the member with this address") });

const Change = z.object({ level: numberChoice([1, 8, 15]).optional() });
type Change = z.infer<typeof Change>;

interface MemberOf {
  membership: Membership;
  user: User;
}

const showMember = (desk: ResourceDesk, { membership, user }: MemberOf): z.infer<typeof Member> =>
  shownAs(Member, { ...membership, user: showUser(desk, user) });

const byJoining = (a: MemberOf, b: MemberOf): number => (a.membership.joined_at < b.membership.joined_at ? 1 : -1);

/** Checks that a member of level `mine` may give another this level. @throws SimError permission_denied */
function checkNewLevel(mine: MemberLevel, isSelf: boolean, wanted: MemberLevel): void {
  if (isSelf) throw denied("You can't change your own access level.");
  if (wanted === levels.owner && mine < levels.owner) {
    throw denied("You can only make another member owner if you're this organization's owner.");
  }
  if (wanted > mine) {
    throw denied("You can only change access level of others to lower or equal to your current one.");
  }
}

/**
 * Members of an organization. Owners may appoint further owners; an owner cannot leave.
 * Upstream PostHog/posthog posthog/api/organization_member.py, posthog/models/organization.py.
 */
export function memberEndpoints(desk: ResourceDesk, memberships: Memberships): Endpoint[] {
  const { worlds } = desk;

  const show = (it: MemberOf) => showMember(desk, it);

  /** Active ones, the last to join first. */
  const membersOf = (organization: string): MemberOf[] =>
    memberships
      .ofOrganization(organization)
      .flatMap((membership) => {
        const user = worlds.get("users", membership.user);
        return user?.is_active ? [{ membership, user }] : [];
      })
      .reverse()
      .sort(byJoining);

  /** The member of the path, if the caller may change it. @throws SimError not_found, permission_denied */
  function touched({ organization, level, caller, param }: CallPlace & Request<Change>): MemberOf {
    const name = param("user__uuid");
    const uuid = name === "@me" ? caller.user.uuid : name.toLowerCase();
    const members = isUuid(uuid) ? membersOf(organization.id) : [];
    const member = found(members.find((it) => it.user.uuid === uuid));
    if (member.user.id === caller.user.id) return member;
    if (level < levels.admin) throw denied("You can only edit others if you are an admin.");
    if (member.membership.level > level) {
      throw denied("You can only edit others with level lower or equal to you.");
    }
    return member;
  }

  function change({ membership, user }: MemberOf, level: MemberLevel): MemberOf {
    const changed = { ...membership, level, updated_at: wireTime(desk.clock.now()) };
    return { membership: worlds.change((draft) => draft.put("memberships", changed)), user };
  }

  const path = "/api/organizations/:organization_id/members";
  return [
    ...managementRow(desk, {
      method: "GET",
      path,
      summary: "Members of an organization",
      access: inOrganization("organization_member:read"),
      query: memberQuery,
      reply: pageSchema(Member),
      handle({ call, organization }) {
        const { email } = parametersOf(call, memberQuery);
        const members = membersOf(organization.id);
        return pageOf(call, email === undefined ? members : members.filter((it) => it.user.email === email), show);
      },
    }),
    ...managementRow(desk, {
      method: ["PATCH", "PUT"],
      path: `${path}/:user__uuid`,
      summary: "Changes a member's level; for admins",
      access: inOrganization("organization_member:write"),
      body: Change,
      reply: Member,
      handle(request) {
        const member = touched(request);
        const { level } = request.body();
        if (level === undefined) return show(member);
        checkNewLevel(request.level, member.user.id === request.caller.user.id, level);
        return show(change(member, level));
      },
    }),
    ...managementRow(desk, {
      method: "DELETE",
      path: `${path}/:user__uuid`,
      summary: "Removes a member; for admins and the member",
      access: inOrganization("organization_member:write"),
      status: 204,
      handle(request) {
        const { membership, user } = touched(request);
        if (membership.level === levels.owner) throw invalid("Cannot leave the organization as its owner!");
        worlds.change((draft) => {
          draft.remove("memberships", membership.id);
          resettleUsers(draft, worlds, (it) => it.id === user.id);
        });
      },
    }),
  ];
}
