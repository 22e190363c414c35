import type { Json } from "../../../kernel/base/json.ts";
import type { GrowingSeries, SeriesValues } from "../table-data.ts";
import { withRoom } from "../values.ts";

/** Values that arrived in parts. Arrays of numbers have room for more. */
type Received = { of: object; part: string; values: Float64Array | Uint32Array | (Json | undefined)[]; length: number };

const emptyLike = (values: SeriesValues): Received["values"] => {
  if (values instanceof Float64Array) return new Float64Array();
  return values instanceof Uint32Array ? new Uint32Array() : [];
};

/** The series that the sim sent, by their ids. */
export function createReceivedSeries() {
  const all = new Map<number, Received>();

  function find(id: number): Received {
    const found = all.get(id);
    if (!found) throw new Error(`a bug in phx-sim: the series ${id} was not sent`);
    return found;
  }
  const numbersOf = <A extends Float64Array | Uint32Array>(it: Received, more: A): A => {
    const values = withRoom(it.values as A, it.length + more.length);
    values.set(more, it.length);
    return values;
  };

  return {
    extend(id: number, more: SeriesValues): void {
      const it = all.get(id) ?? { of: {}, part: String(id), values: emptyLike(more), length: 0 };
      all.set(id, it);
      if (more instanceof Float64Array || more instanceof Uint32Array) it.values = numbersOf(it, more);
      else for (const value of more) (it.values as (Json | undefined)[]).push(value);
      it.length += more.length;
    },
    numbers: (id: number) => find(id) as GrowingSeries<Float64Array>,
    codes: (id: number) => find(id) as GrowingSeries<Uint32Array>,
    values: (id: number) => find(id) as GrowingSeries<readonly (Json | undefined)[]>,
    clear: (): void => all.clear(),
  };
}
