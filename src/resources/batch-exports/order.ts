import type { Call } from "../../http/call.ts";
import type { QueryParameter } from "../../http/endpoint.ts";
import { compareTimes } from "../../model/time.ts";
import type { Order } from "./cursor-page.ts";

/** Times by which a list can be sorted; the one it is sorted by anyway is `created_at`. */
type Times<D, Name extends string> = Readonly<Record<Name | "created_at", (document: D) => string>>;

const name = "ordering";

export const orderQuery = (names: readonly string[]): QueryParameter => ({
  name,
  description: "By which time, with a minus for the last first",
  schema: { type: "string", enum: names.flatMap((it) => [it, `-${it}`]), default: "-created_at" },
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
  const asked = call.query.get(name) ?? "";
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
