import { resolve } from "node:path";
import { expect, test } from "vitest";
import { tapePlace } from "../../../../src/lab/tapes/format/place.ts";

test.each([
  ["checkout", "tapes/checkout.tape.ndjson"],
  ["v1.2", "tapes/v1.2.tape.ndjson"],
  ["./checkout", "checkout"],
  ["recorded/checkout.tape.ndjson", "recorded/checkout.tape.ndjson"],
  ["checkout.tape.ndjson", "checkout.tape.ndjson"],
  ["checkout.ndjson", "checkout.ndjson"],
  ["../up", "../up"],
])("%s is %s", (given, expected) => {
  expect(tapePlace(given, "/work")).toBe(resolve("/work", expected));
});

test("a path from the root is itself", () => {
  expect(tapePlace("/tapes/x", "/work")).toBe(resolve("/tapes/x"));
});
