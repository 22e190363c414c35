import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kernel/base/json.ts";
import { isEngage, openLegacy, openV1 } from "../../../src/state/journal/items.ts";

const named = { event: "e" };

describe("a legacy body has the items", () => {
  const rows: [what: string, body: Json, items: Json[], isEnvelope?: true][] = [
    ["an event", named, [named]],
    ["a list", [named, 5], [named, 5]],
    ["an empty list", [], []],
    ["a text", "x", ["x"]],
    ["nothing", null, [null]],
    ["a batch", { batch: [named] }, [named], true],
    ["a batch with a key", { event: "e", api_key: "k", batch: [named] }, [named], true],
    ["a batch with a token", { event: "e", token: "k", batch: [named] }, [named], true],
    ["a batch with a key that is none", { api_key: 1, batch: [named] }, [named], true],
    ["an event with a field batch", { event: "e", batch: [named] }, [{ event: "e", batch: [named] }]],
    [
      "an event with a field batch and a key that is no text",
      { event: "e", api_key: 1, token: "k", batch: [named] },
      [{ event: "e", api_key: 1, token: "k", batch: [named] }],
    ],
    ["a batch that is no list", { batch: named }, [{ batch: named }]],
  ];
  test.each(rows)("%s", (_, body, items, isEnvelope) => {
    expect(openLegacy(body, false)).toEqual({ items, envelope: isEnvelope ? body : undefined });
  });

  test("under /engage an object without a name is an $identify", () => {
    expect([isEngage("/engage/"), isEngage("/engage"), isEngage("/e/engage")]).toEqual([true, true, false]);
    expect(openLegacy({ distinct_id: "u" }, true).items).toEqual([{ event: "$identify", distinct_id: "u" }]);
    expect(openLegacy(named, true).items).toEqual([named]);
    expect(openLegacy([{}], true).items).toEqual([{}]);
    expect(openLegacy("x", true).items).toEqual(["x"]);
  });
});

describe("a v1 body has the items", () => {
  test.each<[body: Json, items: Json[], isEnvelope: boolean]>([
    [{ batch: [named] }, [named], true],
    [{ batch: named }, [], true],
    [{}, [], true],
    [[named], [], false],
    ["x", [], false],
    [null, [], false],
  ])("%j: %j", (body, items, isEnvelope) => {
    expect(openV1(body)).toEqual({ items, envelope: isEnvelope ? body : undefined });
  });
});
