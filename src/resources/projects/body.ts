import { z } from "zod";
import { boolean, integer, text } from "../fields.ts";
import { optionalSettingFields } from "./settings.ts";

const zonePattern = /^[A-Z][A-Za-z_]*(\/[\w+-]+)*$|^UTC$|^GMT[+-]?\d*$/;

/** Is it the name of a time zone? */
function isTimeZone(name: string): boolean {
  if (!zonePattern.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const timezone = z.string().superRefine((name, context) => {
  if (isTimeZone(name)) return;
  const params = { code: "invalid_choice", detail: `"${name}" is not a valid choice.` };
  context.addIssue({ code: "custom", params });
});

/** What a project is created from and changed by: nothing is required, as at the service. */
export const ProjectBody = z.object({
  name: text({ max: 200 }).optional(),
  ...optionalSettingFields,
  is_demo: boolean().optional(),
  timezone: timezone.optional(),
  primary_dashboard: integer().nullable().optional(),
});
export type ProjectBody = z.infer<typeof ProjectBody>;
