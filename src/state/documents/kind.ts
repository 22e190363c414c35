import { z } from "zod";
import { type AuthoredForm, newDocument } from "./new-document.ts";

export { now } from "./new-document.ts";

/** Its description in scenarios, and its shape there, if it is not the stored one. */
type Authored = string | readonly [shape: z.ZodType, description: string, required?: "required"];

/** A field of a kind of documents, in all its forms. One without `stored` is in requests, responses or scenarios only. */
export interface KindField {
  /** Its shape in the world, which responses have as well. */
  readonly stored?: z.ZodType;
  /** Its value in a new document; without one, a new document requires it. */
  readonly blank?: unknown;
  /** Its shape in responses, if it differs; false: it is not shown. */
  readonly show?: z.ZodType | false;
  /** It is shown in detail only, not in lists. */
  readonly detail?: true;
  /** Its shape in requests; without one, clients cannot write it. */
  readonly write?: z.ZodType;
  readonly author?: Authored;
  readonly is?: AuthoredForm;
}

type Fields = Readonly<Record<string, KindField>>;
type StoredShape<F> = {
  -readonly [K in keyof F as F[K] extends { stored: z.ZodType } ? K : never]: F[K] extends {
    stored: infer S extends z.ZodType;
  }
    ? S
    : never;
};
type WriteShape<F> = {
  -readonly [K in keyof F as F[K] extends { write: z.ZodType } ? K : never]: F[K] extends {
    write: infer S extends z.ZodType;
  }
    ? z.ZodOptional<S>
    : never;
};
type InScenario<F> = F extends { author: readonly [infer S extends z.ZodType, string, "required"] }
  ? S
  : F extends { author: readonly [infer S extends z.ZodType, string] }
    ? z.ZodOptional<S>
    : F extends { author: string; stored: infer S extends z.ZodType }
      ? z.ZodOptional<S>
      : never;
type AuthorShape<F> = { -readonly [K in keyof F as InScenario<F[K]> extends never ? never : K]: InScenario<F[K]> };
type Shown<F> = F extends { show: false }
  ? never
  : F extends { show: infer S extends z.ZodType }
    ? S
    : F extends { stored: infer S extends z.ZodType }
      ? S
      : never;
type ShownShape<F> = { -readonly [K in keyof F as Shown<F[K]> extends never ? never : K]: Shown<F[K]> };
type ListShape<F> = ShownShape<{ [K in keyof F as F[K] extends { detail: true } ? never : K]: F[K] }>;

type Document<F> = z.infer<z.ZodObject<StoredShape<F>>>;
type BlankKeys<F> = { [K in keyof F]: F[K] extends { blank: unknown } ? K : never }[keyof F];

const shapeOf = (fields: Fields, read: (field: KindField) => z.ZodType | undefined) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const shape = read(field);
      return shape ? [[name, shape]] : [];
    }),
  );

const shownOf = ({ show, stored }: KindField) => (show === false ? undefined : (show ?? stored));

function authoredOf({ author, stored = z.never() }: KindField) {
  if (author === undefined) return undefined;
  const [shape, description, required] = typeof author === "string" ? [stored, author] : author;
  return (required ? shape : shape.optional()).describe(description);
}

const ordered = (shape: z.ZodRawShape, names: string): z.ZodRawShape => ({
  ...Object.fromEntries(names.split(" ").flatMap((name) => (shape[name] ? [[name, shape[name]]] : []))),
  ...shape,
});

/**
 * A kind of documents, of one row for each field in the order of responses. The world's schema, the management API,
 * scenarios and `pull` read it.
 * @param written The order of the fields in requests, whose first mistake is reported; others follow
 * @param authored The same in the schema of scenarios
 */
export function kind<const F extends Fields>(fields: F, { written = "", authored = "" } = {}) {
  const entries: [string, KindField][] = Object.entries(fields);
  const blanks = Object.fromEntries(entries.flatMap(([name, it]) => ("blank" in it ? [[name, it.blank]] : [])));
  const inScenarios = entries.filter(([, { stored, author }]) => stored && author);
  // Each object has the keys of its type, which the compiler cannot follow.
  return {
    fields: fields as Fields,
    values: { authored: Object.fromEntries(inScenarios.map(([name, { is = "same" }]) => [name, is])), blanks },
    Stored: z.object(shapeOf(fields, ({ stored }) => stored) as StoredShape<F>),
    Writable: z.object(
      ordered(
        shapeOf(fields, ({ write }) => write?.optional()),
        written,
      ) as WriteShape<F>,
    ),
    Shown: z.object(shapeOf(fields, shownOf) as ShownShape<F>),
    Listed: z.object(shapeOf(fields, (it) => (it.detail ? undefined : shownOf(it))) as ListShape<F>),
    Authored: z.strictObject(ordered(shapeOf(fields, authoredOf), authored) as AuthorShape<F>),
    /** A new document; its keys are in the order of the given ones. @param time Wire time */
    blank: (given: Omit<Document<F>, BlankKeys<F>> & Partial<Document<F>>, time = "") =>
      newDocument(blanks, given, time) as Document<F>,
    /** The fields of the document that a body sets. @param convert What is stored of a field's value; undefined: nothing */
    changes(
      body: object,
      convert: { readonly [name: string]: (value: unknown) => unknown } = {},
    ): Partial<Document<F>> {
      const changed = Object.entries(body).flatMap(([name, sent]) => {
        const value = convert[name] ? convert[name](sent) : sent;
        return fields[name]?.stored && fields[name].write && value !== undefined ? [[name, value]] : [];
      });
      return Object.fromEntries(changed) as Partial<Document<F>>;
    },
  };
}
