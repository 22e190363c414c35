import { expect, test } from "vitest";
import { fixedClock } from "../../../src/kernel/base/clock.ts";
import { randomIds, uuidV5 } from "../../../src/kernel/base/ids.ts";
import { isUuid } from "../../../src/kernel/base/text.ts";

test("version 7, stamped with the clock's time, never twice", () => {
  const clock = fixedClock(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  const ids = randomIds(clock);
  const made = Array.from({ length: 20_000 }, () => ids.uuid());
  expect(new Set(made).size).toBe(made.length);
  expect(made.every((it) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(it))).toBe(
    true,
  );
  const stamp = Number.parseInt((made[0] ?? "").replace("-", "").slice(0, 12), 16);
  expect(stamp).toBe(clock.now());
  clock.set(clock.now() + 1);
  expect(ids.uuid() > (made.at(-1) ?? "").slice(0, 13)).toBe(true);
});

test.each([-1, 2 ** 60])("a clock at %d still makes uuids", (now) => {
  expect(isUuid(randomIds(fixedClock(now)).uuid())).toBe(true);
});

test.each([
  // RFC 9562, appendix A.4: DNS namespace, www.example.com
  ["6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com", "2ed6657d-e927-568b-95e1-2665a8aea6a2"],
])("version 5 of %s and %s", (namespace, name, expected) => {
  expect(uuidV5(namespace, name)).toBe(expected);
});

test.each([
  ["2ed6657d-e927-568b-95e1-2665a8aea6a2", true],
  ["2ED6657D-E927-568B-95E1-2665A8AEA6A2", true],
  ["2ed6657de927568b95e12665a8aea6a2", false],
  ["", false],
  [null, false],
])("is %s a uuid? %s", (text, expected) => {
  expect(isUuid(text)).toBe(expected);
});
