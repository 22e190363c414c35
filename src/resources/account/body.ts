import { z } from "zod";
import { choice, dictionary, text } from "../fields.ts";

const roles = [
  "engineering",
  "data",
  "product",
  "founder",
  "leadership",
  "marketing",
  "sales",
  "other",
] as const;

const email = text({ max: 254 }).refine((it) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(it), {
  params: { detail: "Enter a valid email address." },
});

/** What users may change of their account. */
export const AccountChanges = z.object({
  first_name: text({ max: 150 }).optional(),
  last_name: text({ max: 150, blank: true }).optional(),
  email: email.optional(),
  set_current_organization: text().optional(),
  set_current_team: text().optional(),
  hedgehog_config: dictionary().nullable().optional(),
  role_at_organization: choice(roles).optional(),
});
export type AccountChanges = z.infer<typeof AccountChanges>;
