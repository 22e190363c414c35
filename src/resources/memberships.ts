import { derived } from "../model/derived.ts";
import type { Membership, Organization, Project } from "../model/world.ts";
import { type Caller, membershipOf } from "./access.ts";
import type { ResourceDesk } from "./desk.ts";

/** Collects values under a key, in their order. */
function grouped<K, V>(values: readonly V[], keyOf: (value: V) => K): ReadonlyMap<K, readonly V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

/** Who belongs where, through indexes. */
export function openMemberships(desk: ResourceDesk) {
  const { worlds } = desk;
  const byUser = derived(worlds, ["memberships"], () => grouped(worlds.current.memberships, (it) => it.user));
  const byOrganization = derived(worlds, ["memberships"], () =>
    grouped(worlds.current.memberships, (it) => it.organization),
  );
  const projects = derived(worlds, ["projects"], () =>
    grouped(
      worlds.current.projects.toSorted((a, b) => a.id - b.id),
      (it) => it.organization,
    ),
  );

  const ofUser = (user: number): readonly Membership[] => byUser().get(user) ?? [];
  return {
    ofUser,
    ofOrganization: (organization: string): readonly Membership[] => byOrganization().get(organization) ?? [],
    projectsOf: (organization: string): readonly Project[] => projects().get(organization) ?? [],
    /** The organizations that a caller may see with this key. */
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
