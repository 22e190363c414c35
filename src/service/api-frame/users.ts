import type { z } from "zod";
import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { derived } from "../../state/documents/derived.ts";
import { UserShape } from "../../state/documents/field-kinds.ts";
import type { Membership, Organization, StoredProject, User } from "../../state/documents/world.ts";
import { type Caller, membershipOf } from "./access.ts";
import type { ResourceDesk } from "./desk.ts";
import { shownAs } from "./fields.ts";

export const showUser = (desk: ResourceDesk, user: User): z.infer<typeof UserShape> =>
  shownAs(UserShape, { ...user, hedgehog_config: user.hedgehog_config ?? (desk.dialect === "documented" ? {} : null) });

export function showUserOf(desk: ResourceDesk, id: number | null): z.infer<typeof UserShape> | null {
  const user = id === null ? undefined : desk.worlds.get("users", id);
  return user ? showUser(desk, user) : null;
}

export function openMemberships(desk: ResourceDesk) {
  const { worlds } = desk;
  const byUser = derived(worlds, ["memberships"], () => groupedBy(worlds.current.memberships, (it) => it.user));
  const byOrganization = derived(worlds, ["memberships"], () =>
    groupedBy(worlds.current.memberships, (it) => it.organization),
  );
  const projects = derived(worlds, ["projects"], () =>
    groupedBy(
      worlds.current.projects.toSorted((a, b) => a.id - b.id),
      (it) => it.organization,
    ),
  );

  const ofUser = (user: number): readonly Membership[] => byUser().get(user) ?? [];
  return {
    ofUser,
    ofOrganization: (organization: string): readonly Membership[] => byOrganization().get(organization) ?? [],
    projectsOf: (organization: string): readonly StoredProject[] => projects().get(organization) ?? [],
    organizationsOf({ user, key }: Caller): Organization[] {
      const limits = key.scoped_organizations;
      return ofUser(user.id)
        .filter((it) => limits.length === 0 || limits.includes(it.organization))
        .flatMap((it) => desk.worlds.get("organizations", it.organization) ?? []);
    },
    levelOf: (organization: string, user: number) => membershipOf(desk, organization, user)?.level ?? null,
  };
}

export type Memberships = ReturnType<typeof openMemberships>;
