import { isFreeForm, isMap } from "./data-paths.ts";
import { type Shape, shownTypes } from "./shape.ts";
import type { AnswerDifference } from "./types.ts";

type Told = Omit<AnswerDifference, "detail">;
type Tell = (difference: Told) => void;

/**
 * Where two shapes differ. `recorded` is what the service said: a key or a type that it has and `own` has not is
 * a break; what only `own` has, and null on one side, is additive.
 */
export function compareShapes(recorded: Shape, own: Shape, path: string, tell: Tell): void {
  compareTypes(recorded, own, path, tell);
  for (const [key, { shape, times }] of recorded.keys) {
    const at = `${path}.${key}`;
    const mine = own.keys.get(key);
    if (mine) compareKey(key, shape, mine.shape, at, tell);
    else if (own.objects > 0) tell(missing(shape, times === recorded.objects, at));
  }
  for (const [key, { shape }] of own.keys)
    if (!recorded.keys.has(key) && recorded.objects > 0) tell(extra(shape, `${path}.${key}`));
  if (recorded.element && own.element) compareShapes(recorded.element, own.element, `${path}[]`, tell);
}

function compareKey(key: string, recorded: Shape, own: Shape, at: string, tell: Tell): void {
  if (isFreeForm(key)) {
    compareTypes(recorded, own, at, tell);
    return;
  }
  if (!isMap(key)) {
    compareShapes(recorded, own, at, tell);
    return;
  }
  compareTypes(recorded, own, at, tell);
  const [left, right] = [valuesOf(recorded), valuesOf(own)];
  // A list where the other one has a map was told above.
  if (left && right) compareShapes(left, right, `${at}.*`, tell);
  else if (recorded.element && own.element) compareShapes(recorded.element, own.element, `${at}[]`, tell);
}

/** The values of a map as one shape. */
function valuesOf({ keys }: Shape): Shape | undefined {
  const all = [...keys.values()].map(({ shape }) => shape);
  return all.length > 0 ? all.reduce(united) : undefined;
}

function united(a: Shape, b: Shape): Shape {
  const keys = new Map(a.keys);
  for (const [key, { shape, times }] of b.keys) {
    const known = keys.get(key);
    keys.set(
      key,
      known ? { shape: united(known.shape, shape), times: known.times + times } : { shape, times },
    );
  }
  const element = a.element && b.element ? united(a.element, b.element) : (a.element ?? b.element);
  return { types: new Set([...a.types, ...b.types]), objects: a.objects + b.objects, keys, element };
}

/** A key that only some of the recorded objects have is not promised. */
const missing = (shape: Shape, isInAll: boolean, path: string): Told => ({
  severity: isInAll ? "break" : "additive",
  kind: "missing",
  path,
  recorded: shownTypes(shape),
  own: "nothing",
});

const extra = (shape: Shape, path: string): Told => ({
  severity: "additive",
  kind: "extra",
  path,
  recorded: "nothing",
  own: shownTypes(shape),
});

function compareTypes(recorded: Shape, own: Shape, path: string, tell: Tell): void {
  const told = { path, recorded: shownTypes(recorded), own: shownTypes(own) };
  const left = withoutNull(recorded);
  const right = withoutNull(own);
  if (left.size > 0 && right.size > 0) {
    if ([...left].every((it) => !right.has(it))) {
      tell({ severity: "break", kind: "type", ...told });
      return;
    }
    if (!isSame(left, right)) tell({ severity: "additive", kind: "elements", ...told });
  }
  if (recorded.types.has("null") !== own.types.has("null"))
    tell({ severity: "additive", kind: "null", ...told });
}

const withoutNull = ({ types }: Shape): Set<string> => new Set([...types].filter((it) => it !== "null"));

const isSame = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((it) => b.has(it));
