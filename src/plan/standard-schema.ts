/** What validators such as zod, valibot and arktype have in common (standardschema.dev, version 1). */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Validators may be functions, too (arktype). */
export const isStandardSchema = (value: unknown): value is StandardSchema =>
  (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;

/** The validator's own JSON Schema of what it takes, where it can tell (zod from 4.2 on); else null. */
export function jsonSchemaOf(schema: StandardSchema): unknown {
  // An extension of the standard.
  const standard = schema["~standard"] as { jsonSchema?: { input?: (options: object) => unknown } };
  try {
    return standard.jsonSchema?.input?.({ target: "draft-2020-12" }) ?? null;
  } catch {
    // Not everything that a validator can say can be said in JSON Schema.
    return null;
  }
}
