import { z } from "zod";
import type { Call } from "../../http/call.ts";
import type { QueryParameter } from "../../http/endpoint.ts";
import { SimError } from "../../kernel/errors.ts";
import { linkWith } from "../page.ts";

/** Pages that are found by a cursor instead of a number. Upstream Django REST framework, CursorPagination. */

export interface CursorPage<T> {
  next: string | null;
  previous: string | null;
  results: T[];
}

/** The order of a list: by a text of each document. */
export interface Order<D> {
  keyOf(document: D): string;
  compare(a: string, b: string): number;
}

/** A place between two documents: so many of those with this key are before it. */
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

/** The first document that the list has at or after a key. */
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

/**
 * The page of a sorted list that the call's `cursor` leads to, `size` documents long.
 * @throws SimError not_found when the cursor cannot be read
 */
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

/** The schema of such an answer. */
export const cursorPageSchema = <T extends z.ZodType>(item: T) =>
  z.object({ next: z.string().nullable(), previous: z.string().nullable(), results: z.array(item) });

export const cursorQuery: QueryParameter = {
  name: "cursor",
  description: "Where the page begins; taken from next and previous",
  schema: { type: "string" },
};
