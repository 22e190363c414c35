import { z } from "zod";

/** A document of a kind that management/resources describes: an action, a survey, an alert … */
export const StoredResource = z.object({
  /** Its kind, its project or organization, and its key: `actions/1/7`. */
  id: z.string(),
  /** As the paths and the keys of scenarios name it: `actions`. */
  kind: z.string(),
  project: z.int().nullable(),
  organization: z.string().nullable(),
  /** What paths name it by: a number, a UUID or letters. Projects made for tests have the keys of the original. */
  key: z.union([z.int(), z.string()]),
  fields: z.record(z.string(), z.json()),
});
