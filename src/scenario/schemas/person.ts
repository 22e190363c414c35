import { z } from "zod";
import { maxGroupTypes } from "../../people/person.ts";
import { JsonRecord, Time, Uuid } from "./values.ts";

export const AuthoredPerson = z.strictObject({
  distinct_ids: z
    .array(z.string().min(1))
    .min(1)
    .describe("Every id that the person is known by; the first one is the person's own."),
  uuid: Uuid.optional().describe("By default the one that an event of the first distinct id would make."),
  properties: JsonRecord.optional().describe("What is known about the person; by default nothing."),
  is_identified: z
    .boolean()
    .optional()
    .describe("True: the person cannot be merged into another any more. By default false."),
  created_at: Time.optional().describe("By default 2025-01-01."),
});
export type AuthoredPerson = z.infer<typeof AuthoredPerson>;

export const AuthoredGroup = z.strictObject({
  type: z.string().min(1).describe("What kind of group, such as `company`."),
  key: z.string().min(1).describe("Which one of the kind."),
  properties: JsonRecord.optional().describe("What is known about the group; by default nothing."),
  created_at: Time.optional().describe("By default 2025-01-01."),
});
export type AuthoredGroup = z.infer<typeof AuthoredGroup>;

export const GroupTypes = z.array(z.string().min(1)).max(maxGroupTypes);
