import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { fc } from "../../../support/chance.ts";

/** A value once in `of` times, else undefined. */
export const maybe = <T>(arbitrary: fc.Arbitrary<T>, of: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: of - 1 }, { arbitrary, weight: 1 });

/** Drops what is undefined. */
export const defined = (object: Record<string, Json | undefined>): JsonObject =>
  JSON.parse(JSON.stringify(object)) as JsonObject;

/** A value once in `of` times, else the other one. */
export const seldom = <T>(value: T, otherwise: T, of: number): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constant(otherwise), weight: of - 1 }, { arbitrary: fc.constant(value), weight: 1 });

/** A reference to some other document. */
export const which: fc.Arbitrary<number> = fc.nat(999);
