/** The TypeScript type of what a plan's JSON Schema describes, as far as types can tell; `unknown` for the rest. */
interface Words {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
  object: { [key: string]: unknown };
  array: unknown[];
  any: unknown;
  "date-time": string;
  date: string;
  uuid: string;
  email: string;
  uri: string;
}

/** `"integer|null"`, `"uuid[]"`. */
type OfWord<W> = W extends `${infer First}|${infer Rest}`
  ? OfWord<First> | OfWord<Rest>
  : W extends `${infer Item}[]`
    ? OfWord<Item>[]
    : W extends keyof Words
      ? Words[W]
      : unknown;

type ValueOf<S> = S extends string
  ? OfWord<S>
  : S extends readonly (infer Allowed)[]
    ? Allowed
    : S extends { readonly const: infer Only }
      ? Only
      : S extends { readonly enum: readonly (infer Allowed)[] }
        ? Allowed
        : S extends { readonly type: "array"; readonly items: infer Item }
          ? ValueOf<Item>[]
          : S extends { readonly type: "object"; readonly properties: unknown }
            ? PropertiesOf<S>
            : S extends { readonly type: readonly (infer Type)[] }
              ? OfWord<Type>
              : S extends { readonly type: infer Type }
                ? OfWord<Type>
                : unknown;

type Required<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

/** Properties that are required, and those that are not. */
export type PropertiesOf<S> = S extends { readonly properties: infer Properties }
  ? {
      -readonly [Name in keyof Properties as Name extends Required<S> ? Name : never]: ValueOf<
        Properties[Name]
      >;
    } & {
      -readonly [Name in keyof Properties as Name extends Required<S> ? never : Name]?: ValueOf<
        Properties[Name]
      >;
    }
  : { [key: string]: unknown };
