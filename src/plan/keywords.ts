/** Where JSON Schema (2020-12) has schemas inside of schemas. */
export const oneSchema = [
  "items",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "propertyNames",
  "contains",
  "not",
  "if",
  "then",
  "else",
] as const;
export const schemaList = ["allOf", "anyOf", "oneOf", "prefixItems"] as const;
export const schemaMap = ["properties", "patternProperties", "dependentSchemas"] as const;

/** Formats that are checked. */
export const formats = [
  "date-time",
  "date",
  "time",
  "duration",
  "uuid",
  "email",
  "uri",
  "uri-reference",
  "url",
  "hostname",
  "ipv4",
  "ipv6",
  "regex",
  "json-pointer",
] as const;

export const types = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;

/** A type's word → what it stands for. */
export const typeWords: ReadonlyMap<string, { readonly [keyword: string]: string }> = new Map<
  string,
  { readonly [keyword: string]: string }
>([
  ...types.map((type): [string, { type: string }] => [type, { type }]),
  ["any", {}],
  ...(["date-time", "date", "uuid", "email", "uri"] as const).map(
    (format): [string, { type: string; format: string }] => [format, { type: "string", format }],
  ),
]);
