import { z } from "zod";
import { kind, now } from "./kind.ts";
import { boolean, list, text } from "./lenient-fields.ts";
import { tidyTags } from "./tags.ts";

// Shapes and fields that several kinds have. Messages of authored shapes complete the sentence "expected …".

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
export const Tags = z.array(z.string().max(255));

export const number = <const T extends string>(description: T) =>
  ({ stored: z.int(), author: [Id, description] }) as const;

export const userKind = kind(
  {
    id: number("The user's number; by default the next free one."),
    uuid: { stored: z.string(), author: [Uuid, "By default it follows from the address."] },
    distinct_id: {
      stored: z.string(),
      show: z.string().nullable(),
      author: [z.string().min(1), "The user's own distinct id; by default the uuid."],
    },
    first_name: { stored: z.string(), author: "By default the part of the address before the @." },
    last_name: { stored: z.string(), author: "By default empty." },
    email: {
      stored: z.string(),
      author: [Email, "The user's address; the rest of the scenario refers to it.", "required"],
    },
    is_email_verified: { stored: z.boolean().nullable(), author: "By default true." },
    hedgehog_config: { stored: JsonRecord.nullable(), author: "The appearance of the user's hedgehog." },
    role_at_organization: { stored: z.string().nullable(), author: "Such as `engineering`; by default null." },
    is_active: { stored: z.boolean(), show: false, author: "False: the user's keys are refused. By default true." },
    is_staff: { stored: z.boolean(), show: false, author: "By default false." },
    date_joined: { stored: z.string(), show: false, author: [Time, "By default 2025-01-01."] },
    /** The organization and project of `@current`. */
    current_organization: { stored: z.string().nullable(), show: false },
    current_project: { stored: z.int().nullable(), show: false },
  },
  { authored: "email id uuid distinct_id first_name last_name role_at_organization is_email_verified hedgehog_config" },
);

export const UserShape = userKind.Shown.meta({ title: "User" });

export const project = { stored: z.int(), show: false } as const;

export const createdAt = {
  stored: z.string(),
  blank: now,
  is: "time",
  author: [Time, "By default 2025-01-01."],
} as const;

export const createdBy = {
  stored: z.int().nullable(),
  blank: null,
  show: UserShape.nullable(),
  is: "user",
  author: [Email.nullable(), "E-mail address; by default the first user's."],
} as const;

export const tags = {
  stored: z.array(z.string()),
  blank: [],
  write: list(text({ max: 255, blank: true }))
    .nullable()
    .transform((it) => (it === null ? undefined : tidyTags(it))),
  is: "tags",
  author: [Tags, "They are trimmed, put in lower case and sorted."],
} as const;

export const off = { stored: z.boolean(), blank: false, write: boolean(), author: "By default false." } as const;

export const empty = {
  stored: z.string(),
  blank: "",
  write: text({ blank: true }),
  author: "By default empty.",
} as const;
