import type { Json } from "../../../kernel/base/json.ts";
import type { KindName } from "./kinds.ts";
import type { IndexedPart, KnownValues } from "./types.ts";

export interface FieldFacts {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly kind: KindName;
  readonly note: string;
  readonly example: string;
  readonly choices?: readonly string[];
  readonly offers?: keyof KnownValues | readonly string[];
}

/** A field with its value of a subject: undefined or null if there is none, a list if there are several. */
export interface Field<Subject> extends FieldFacts {
  readonly isHeavy?: boolean;
  readonly index?: keyof IndexedPart;
  of(subject: Subject): Json | undefined;
}

export interface State<Subject> {
  readonly name: string;
  readonly note: string;
  readonly isHeavy?: boolean;
  readonly indexed?: IndexedPart;
  /** True if the indexed part finds more than the state. */
  readonly isWider?: true;
  test(subject: Subject): boolean;
}

export interface Language<Subject> {
  readonly fields: readonly Field<Subject>[];
  readonly states: readonly State<Subject>[];
  property(path: readonly string[]): Field<Subject>;
  /** True if the subject contains a free word, in lower case. */
  holds(subject: Subject, lower: string): boolean;
}
