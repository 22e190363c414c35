// Decodes and searches a recording of 20 MB: `npm run measure:search`.
import { gzipSync } from "node:zlib";
import { inSlices, type Work } from "../../src/kernel/base/work.ts";
import { decoding } from "../../src/lab/sessions/decode.ts";
import { RecordingSearch } from "../../src/lab/sessions/search.ts";
import { valuesOf } from "../../src/lab/sessions/wanted.ts";

/** Characters of one snapshot, and of all. */
const [one, all] = [2, 20].map((it) => it * 1024 * 1024) as [number, number];

const packed = (value: unknown): string => gzipSync(JSON.stringify(value)).toString("latin1");

function snapshot(): string {
  let id = 1;
  const childNodes: object[] = [];
  for (let size = 0; size < one; size += 260) {
    const text = { type: 3, id: ++id, textContent: `Order ${id} of 42.00 is on its way to the customer` };
    const attributes = { class: "row order", "data-id": `o${id}`, style: "width: 50%", href: `/orders/${id}?a=b%20c` };
    childNodes.push({ type: 2, id: ++id, tagName: "a", attributes, childNodes: [text] });
  }
  return packed({ node: { type: 0, id: 1, childNodes } });
}

const items = Array.from({ length: all / one }, (_, i) => ({ type: 2, timestamp: i, data: snapshot() }));

function* measured(): Work<number> {
  const { events, size } = yield* decoding(items);
  const search = new RecordingSearch(valuesOf(["jane@acme.test", "4242 4242 4242 4242"]));
  for (const event of events) yield* search.examine("w", event, () => {});
  return size;
}

let [last, longest] = [performance.now(), 0];
const timer = setInterval(() => {
  const now = performance.now();
  longest = Math.max(longest, now - last);
  last = now;
}, 1);
const start = performance.now();
const size = await inSlices(measured());
const took = Math.round(performance.now() - start);
clearInterval(timer);
console.log(`${(size / 1024 / 1024).toFixed(1)} MB in ${took} ms, longest turn ${Math.round(longest)} ms`);
