import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kernel/base/json.ts";
import { decodePart } from "../../../src/lab/sessions/decode.ts";
import { packed } from "./recorded.ts";

const losses = (items: readonly Json[], most?: number) =>
  decodePart(items, most).losses.map(({ reason, what, count }) => `${count} ${what}: ${reason}`);

describe("a part of a recording", () => {
  test("what posthog-js compresses is unpacked, the rest stays as it is", () => {
    const node = { type: 0, childNodes: [], name: "Ä ✓ 𝕏" };
    const { events, losses } = decodePart([
      { type: 4, timestamp: 1, data: { href: "http://a.test/" } },
      { type: 2, timestamp: 2, cv: "2024-10", data: packed({ node }) },
      {
        type: 3,
        timestamp: 3,
        cv: "2024-10",
        data: {
          source: 0,
          texts: packed([]),
          attributes: packed([]),
          removes: packed([]),
          adds: packed([{ parentId: 1 }]),
        },
      },
      { type: 3, timestamp: 4, cv: "2024-10", data: { source: 8, id: 4, adds: packed([{ rule: "a{}" }]) } },
      { type: 3, timestamp: 5, data: { source: 0, texts: [], attributes: [], removes: [], adds: [] } },
    ]);
    expect(losses).toEqual([]);
    expect(events.map((it) => it.data)).toEqual([
      { href: "http://a.test/" },
      { node },
      { source: 0, texts: [], attributes: [], removes: [], adds: [{ parentId: 1 }] },
      { source: 8, id: 4, adds: [{ rule: "a{}" }] },
      { source: 0, texts: [], attributes: [], removes: [], adds: [] },
    ]);
  });

  test("damaged pieces are named, and the others decoded", () => {
    const half = packed({ node: {} }).slice(0, 12);
    const items: Json[] = [
      { type: 2, timestamp: 1, cv: "2024-10", data: half },
      { type: 2, timestamp: 2, cv: "2024-10", data: "\ufffd\ufffd" },
      { type: 3, timestamp: 3, cv: "2024-10", data: { source: 0, texts: "x", adds: packed([1]), removes: packed({}) } },
      { type: "3", timestamp: 4, data: {} },
      null,
      { type: 3, timestamp: 5, data: { source: 1 } },
    ];
    const { events } = decodePart(items);
    expect(losses(items)).toEqual([
      "2 full snapshot: bad_gzip",
      "1 texts of a mutation: bad_gzip",
      "1 removes of a mutation: bad_json",
      "2 event: not_an_event",
    ]);
    expect(events.map((it) => it.data)).toEqual([{ source: 0, texts: [], adds: [1], removes: [] }, { source: 1 }]);
  });

  test("a small string that holds much is refused, and what follows it", () => {
    const bomb = packed("0".repeat(5_000_000));
    expect(bomb.length).toBeLessThan(10_000);
    const items: Json[] = [bomb, bomb, packed({})].map((data, timestamp) => ({ type: 2, timestamp, data }));
    expect(losses(items, 1_000_000)).toEqual(["3 full snapshot: too_large"]);
  });

  test("the values of a part share a million objects and lists", () => {
    const data = gzipSync(`[${"{},".repeat(400_000)}{}]`).toString("latin1");
    const item = { type: 3, timestamp: 1, data: { source: 0, texts: data, attributes: data, removes: data } };
    expect(losses([item, item])).toEqual([
      "2 removes of a mutation: too_large",
      "1 texts of a mutation: too_large",
      "1 attributes of a mutation: too_large",
    ]);
  });

  test("deep nesting is refused", () => {
    const deep = `{"node":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const data = gzipSync(deep).toString("latin1");
    expect(losses([{ type: 2, timestamp: 1, data }])).toEqual(["1 full snapshot: too_deep"]);
  });
});
