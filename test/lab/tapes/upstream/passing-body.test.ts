import { expect, test } from "vitest";
import { createKeeper } from "../../../../src/lab/tapes/upstream/passing-body.ts";

test.each([
  [["abc", "def"], 6, Buffer.from("abcdef")],
  [[], 6, Buffer.alloc(0)],
  [["abc", "defg"], 6, { omitted: "too_large", bytes: 7 }],
  [["abcdefg", "h"], 6, { omitted: "too_large", bytes: 8 }],
])("%j with a limit of %i", (chunks, limit, expected) => {
  const keeper = createKeeper(limit);
  for (const it of chunks) keeper.add(Buffer.from(it));
  expect(keeper.body()).toEqual(expected);
  expect(keeper.bytes).toBe(chunks.join("").length);
});
