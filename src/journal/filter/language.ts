import type { Json } from "../../base/json.ts";
import type { KindName } from "./kinds.ts";
import type { IndexedPart, KnownValues } from "./types.ts";

/** What people are told of a field. */
export interface FieldFacts {
  readonly name: string;
  /** Other names for it. */
  readonly aliases: readonly string[];
  readonly kind: KindName;
  readonly note: string;
  readonly example: string;
  /** The only words it can be. */
  readonly choices?: readonly string[];
  /** What is offered when it is typed. */
  readonly offers?: keyof KnownValues | readonly string[];
}

/** A field with what it is of a subject: undefined or null where there is none, a list where there are several. */
export interface Field<Subject> extends FieldFacts {
  readonly isLight: boolean;
  /** What the log's index can find of it. */
  readonly index?: keyof IndexedPart;
  of(subject: Subject): Json | undefined;
}

/** A word after `is:`. */
export interface State<Subject> {
  readonly name: string;
  readonly note: string;
  readonly isLight: boolean;
  readonly indexed?: IndexedPart;
  /** The indexed part finds more than the state. */
  readonly isWider?: true;
  test(subject: Subject): boolean;
}

/** Everything that a filter of one kind can say. */
export interface Language<Subject> {
  readonly fields: readonly Field<Subject>[];
  readonly states: readonly State<Subject>[];
  /** The field of a path into the properties. */
  property(path: readonly string[]): Field<Subject>;
  /** Free words, in lower case. */
  holds(subject: Subject, lower: string): boolean;
}
