import { z } from "zod";
import { type JsonObject, own } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import { denied, membershipOf } from "../../api-frame/access.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { boolean, dictionary, invalid, list, numberChoice, text, uuid } from "../../api-frame/fields.ts";
import { showUser, UserShape } from "../../api-frame/users.ts";
import { Member, showMember } from "../members.ts";
import type { ResourceKind, Writing } from "./kind.ts";
import { siblingsOf, textIn } from "./resource-fields.ts";

/** Roles and invites of organizations: they have no effect on what users may do. */

/** The role's member as responses show it; none when the user is no longer a member of the organization. */
function showRoleMember(desk: ResourceDesk, { key, organization, fields }: StoredResource): JsonObject[] {
  const user = desk.worlds.current.users.find((it) => it.uuid === fields.user_uuid);
  const membership = user && membershipOf(desk, organization ?? "", user.id);
  if (!user || !membership) return [];
  const { role_id = null, joined_at = null, updated_at = null } = fields;
  const organization_member = showMember(desk, { membership, user });
  return [{ id: key, role_id, organization_member, user: showUser(desk, user), joined_at, updated_at }];
}

const membersOf = (desk: ResourceDesk, role: StoredResource): StoredResource[] =>
  desk.worlds.current.resources.filter(
    (it) => it.kind === "role_memberships" && it.organization === role.organization && it.fields.role_id === role.key,
  );

// Upstream PostHog/posthog ee/api/rbac/role.py
const roles: ResourceKind = {
  kind: "roles",
  noun: "role",
  isOnlyStored: true,
  of: "organization",
  scope: "organization",
  byAdmins: true,
  deletion: "hard",
  fields: { name: text({ max: 200 }) },
  initial: {},
  stamps: ["created_at"],
  shown: { created_by: z.null(), members: z.array(z.looseObject({})), is_default: z.literal(false) },
  prepare(fields, writing) {
    const name = textIn(fields, "name").toLowerCase();
    if (siblingsOf(writing, "roles").some((it) => textIn(it.fields, "name").toLowerCase() === name)) {
      throw invalid("There is already a role with this name.", "name", "unique");
    }
    return fields;
  },
  show: (_, document, desk) => ({
    members: membersOf(desk, document).flatMap((it) => showRoleMember(desk, it)),
    // the service does not store who made it
    created_by: null,
    is_default: false,
  }),
  beforeRemoval(document, { draft, desk }) {
    for (const it of membersOf(desk, document)) draft.remove("resources", it.id);
  },
};

const roleMemberships: ResourceKind = {
  kind: "role_memberships",
  parent: { path: "roles", param: "role_id", kind: "roles" },
  noun: "role membership",
  isOnlyStored: true,
  of: "organization",
  scope: "organization",
  byAdmins: true,
  methods: ["list", "create", "read", "remove"],
  deletion: "hard",
  fields: { user_uuid: uuid() },
  initial: {},
  stamps: ["joined_at", "updated_at"],
  unshown: ["user_uuid"],
  shown: { role_id: z.string(), organization_member: Member, user: UserShape },
  compare: (a, b) => (textIn(a.fields, "joined_at") <= textIn(b.fields, "joined_at") ? -1 : 1),
  prepare(fields, writing) {
    const { desk, request } = writing;
    const user = desk.worlds.current.users.find((it) => it.uuid === fields.user_uuid && it.is_active);
    if (!user || !membershipOf(desk, request.organization.id, user.id)) throw invalid("User does not exist.");
    const isMember = ({ fields: its }: StoredResource) =>
      its.role_id === fields.role_id && its.user_uuid === fields.user_uuid;
    if (siblingsOf(writing, "role_memberships").some(isMember)) {
      throw invalid("User is already part of the role.");
    }
    return fields;
  },
  show: (_, document, desk) => showRoleMember(desk, document)[0] ?? {},
};

const email = () => text().pipe(z.email());

/** Days for which an invite is valid. */
const validity = 3;

/** @throws SimError with the service's text for what is wrong */
function prepareInvite(fields: JsonObject, writing: Writing): JsonObject {
  const { desk, draft, request } = writing;
  const { organization, level } = request;
  const [name, domain = ""] = textIn(fields, "target_email").split("@");
  const target_email = `${name}@${domain.toLowerCase()}`;
  if (Number(fields.level) > level) {
    throw denied("You cannot invite a user with a higher permission level than your own.");
  }
  const user = desk.worlds.current.users.find((it) => it.email === target_email);
  if (user && membershipOf(desk, organization.id, user.id)) {
    throw invalid("A user with this email address already belongs to the organization.");
  }
  for (const it of siblingsOf(writing, "invites")) {
    if (own(it.fields, "target_email") === target_email) draft.remove("resources", it.id);
  }
  return { ...fields, target_email };
}

// Upstream PostHog/posthog posthog/api/organization_invite.py
const invites: ResourceKind = {
  kind: "invites",
  noun: "invite",
  isOnlyStored: true,
  of: "organization",
  scope: "organization_member",
  methods: ["list", "create", "remove"],
  deletion: "hard",
  fields: {
    target_email: email(),
    first_name: text({ max: 30, blank: true }).optional(),
    level: numberChoice([1, 8, 15]).optional(),
    message: text({ blank: true }).nullable().optional(),
    private_project_access: list(dictionary()).nullable().optional(),
    send_email: boolean().optional(),
    combine_pending_invites: boolean().optional(),
  },
  initial: { first_name: "", level: 1, message: null, private_project_access: null, emailing_attempt_made: false },
  stamps: ["created_at", "created_by", "updated_at"],
  unshown: ["send_email", "combine_pending_invites"],
  shown: { emailing_attempt_made: z.literal(false), is_expired: z.boolean() },
  prepare: prepareInvite,
  show: ({ created_at }, _, { clock }) => ({
    is_expired: clock.now() - Date.parse(stringOf(created_at)) > validity * 86_400_000,
  }),
};

export const storedOrganizationKinds = [roles, roleMemberships, invites];
