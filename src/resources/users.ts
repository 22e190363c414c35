import { z } from "zod";
import type { User } from "../model/world.ts";
import type { ResourceDesk } from "./desk.ts";

/** The user object that other documents carry. */
export const UserShape = z
  .object({
    id: z.int(),
    uuid: z.string(),
    distinct_id: z.string().nullable(),
    first_name: z.string(),
    last_name: z.string(),
    email: z.string(),
    is_email_verified: z.boolean().nullable(),
    hedgehog_config: z.record(z.string(), z.json()).nullable(),
    role_at_organization: z.string().nullable(),
  })
  .meta({ title: "User" });

export const showUser = (desk: ResourceDesk, user: User): z.infer<typeof UserShape> => ({
  id: user.id,
  uuid: user.uuid,
  distinct_id: user.distinct_id,
  first_name: user.first_name,
  last_name: user.last_name,
  email: user.email,
  is_email_verified: user.is_email_verified,
  hedgehog_config: user.hedgehog_config ?? (desk.dialect === "documented" ? {} : null),
  role_at_organization: user.role_at_organization,
});

/** The user with this id as other documents show it; null when there is none (any more). */
export function showUserOf(desk: ResourceDesk, id: number | null): z.infer<typeof UserShape> | null {
  const user = id === null ? undefined : desk.worlds.get("users", id);
  return user ? showUser(desk, user) : null;
}
