import type { ErrorObject } from "ajv";
import type { JsonObject } from "../kernel/json.ts";

/** Checks a value and says everything that is wrong with it; empty when nothing is. */
type Validate = (value: unknown) => readonly ErrorObject[];

/** Makes validators; each schema is compiled once. @throws when a schema is none */
export type Compile = (schema: JsonObject) => Validate;

/** Loads the JSON Schema validator (2020-12), which is large and seldom needed. */
export async function loadCompiler(): Promise<Compile> {
  const [{ Ajv2020 }, formats] = await Promise.all([import("ajv/dist/2020.js"), import("ajv-formats")]);
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    // Captured properties may be called `constructor`.
    ownProperties: true,
    strict: false,
    logger: false,
    validateSchema: false,
    addUsedSchema: false,
  });
  // Its types speak of another module format than it is read in.
  const addFormats = formats.default as unknown as typeof formats.default.default;
  addFormats(ajv);
  return (schema) => {
    const validate = ajv.compile(schema);
    return (value) => (validate(value) ? [] : (validate.errors ?? []));
  };
}
