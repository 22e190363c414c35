import { z } from "zod";

/**
 * The kinds of values that scenarios are made of. A message of a schema here is a phrase that completes
 * "expected …".
 */

const timeShape = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;
const timeText = "a time with its offset, such as 2025-01-01T00:00:00Z";

export const Time = z
  .string()
  .regex(timeShape, timeText)
  .refine((text) => !Number.isNaN(Date.parse(text)), timeText);

export const Id = z.int().positive();
export const Uuid = z.guid("a UUID");
export const Email = z.string().regex(/^[^\s@]+@[^\s@]+$/, "an e-mail address");
/** One for all, so that the published schema has it once. */
export const AnyJson = z.json();
export const JsonRecord = z.record(z.string(), AnyJson);
/** Tags are trimmed and put in lower case. */
export const Tags = z.array(z.string().max(255));
