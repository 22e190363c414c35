import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import type { Call } from "../../../kernel/http/call.ts";
import { compareTimes } from "../../../state/documents/time.ts";
import { linkWith } from "../../api-frame/lists.ts";

/** Pages that are found by a cursor instead of a number. Upstream Django REST framework, CursorPagination. */

interface CursorPage<T> {
  next: string | null;
  previous: string | null;
  results: T[];
}

interface Order<D> {
  keyOf(document: D): string;
  compare(a: string, b: string): number;
}

/** A place between two documents; `offset` of those with this key are before it. */
interface Cursor {
  position: string;
  offset: number;
  isReverse: boolean;
}

function readCursor(text: string): Cursor {
  const fields = new URLSearchParams(Buffer.from(text, "base64").toString("utf8"));
  const position = fields.get("p");
  const offset = Number(fields.get("o") ?? 0);
  if (position === null || !Number.isInteger(offset) || offset < 0) {
    throw new SimError("not_found", "Invalid cursor");
  }
  return { position, offset, isReverse: fields.get("r") === "1" };
}

const writeCursor = ({ position, offset, isReverse }: Cursor): string =>
  Buffer.from(
    new URLSearchParams({
      ...(isReverse && { r: "1" }),
      ...(offset > 0 && { o: String(offset) }),
      p: position,
    }).toString(),
  ).toString("base64");

function firstAt<D>(sorted: readonly D[], { keyOf, compare }: Order<D>, key: string): number {
  const index = sorted.findIndex((it) => compare(keyOf(it), key) >= 0);
  return index === -1 ? sorted.length : index;
}

/** The part of the list that a call asks for, as [start, end). */
function windowOf<D>(call: Call, sorted: readonly D[], order: Order<D>, size: number): [number, number] {
  const text = call.query.get("cursor") ?? "";
  if (text === "") return [0, Math.min(size, sorted.length)];
  const { position, offset, isReverse } = readCursor(text);
  const at = Math.min(firstAt(sorted, order, position) + offset, sorted.length);
  return isReverse ? [Math.max(0, at - size), at] : [at, Math.min(at + size, sorted.length)];
}

/** @throws SimError not_found when the cursor cannot be read */
export function cursorPage<D, T>(
  call: Call,
  sorted: readonly D[],
  order: Order<D>,
  { size, show }: { size: number; show(document: D): T },
): CursorPage<T> {
  const [start, end] = windowOf(call, sorted, order, size);
  const linkTo = (index: number, isReverse: boolean): string | null => {
    const at = sorted[index];
    if (at === undefined) return null;
    const position = order.keyOf(at);
    const offset = index - firstAt(sorted, order, position);
    return linkWith(call, { cursor: writeCursor({ position, offset, isReverse }) });
  };
  return {
    next: linkTo(end, false),
    previous: start === 0 ? null : linkTo(start, true),
    results: sorted.slice(start, end).map(show),
  };
}

export const cursorPageSchema = <T extends z.ZodType>(item: T) =>
  z.object({ next: z.string().nullable(), previous: z.string().nullable(), results: z.array(item) });

export const cursorQuery = z.object({
  cursor: z.string().describe("Where the page begins; taken from next and previous"),
});

/** Times by which a list can be sorted; the one it is sorted by anyway is `created_at`. */
type Times<D, Name extends string> = Readonly<Record<Name | "created_at", (document: D) => string>>;

export const orderQuery = (names: readonly string[]) => ({
  ordering: z
    .enum(names.flatMap((it) => [it, `-${it}`]))
    .default("-created_at")
    .describe("By which time, with a minus for the last first"),
});

/** A missing time is later than all others, as the service's database has it. */
const compare = (a: string, b: string): number =>
  a === "" || b === "" ? Number(a === "") - Number(b === "") : compareTimes(a, b);

/**
 * The list in the order that the call asks for; an order that is not known is ignored.
 * @param newest the list, the last to be created first
 * @param times an empty text is no time
 */
export function orderOf<D, Name extends string>(call: Call, newest: readonly D[], times: Times<D, Name>) {
  const asked = call.query.get("ordering") ?? "";
  const wanted = asked.replace(/^-/, "");
  const isKnown = Object.hasOwn(times, wanted);
  const by: Name | "created_at" = isKnown ? (wanted as Name) : "created_at";
  const isDescending = !isKnown || asked.startsWith("-");
  const keyOf: (document: D) => string = times[by];
  const order: Order<D> = { keyOf, compare: isDescending ? (a, b) => compare(b, a) : compare };
  const isSorted = by === "created_at" && isDescending;
  const inTurn = isDescending ? newest : newest.toReversed();
  const sorted = isSorted ? newest : inTurn.toSorted((a, b) => order.compare(keyOf(a), keyOf(b)));
  return { by, order, sorted };
}
