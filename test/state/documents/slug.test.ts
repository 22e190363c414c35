import { expect, test } from "vitest";
import { freeSlug, slugOf } from "../../../src/state/documents/slug.ts";

test.each([
  ["Acme", "acme"],
  ["Acme, Inc.", "acme-inc"],
  ["  two   words - and_more ", "two-words-and_more"],
  ["Crème Brûlée", "creme-brulee"],
  ["--a--", "a"],
  ["你好", ""],
  ["x".repeat(64), "x".repeat(48)],
])("%j", (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

test.each([
  ["Acme", [], "acme"],
  ["Acme", ["acme"], "acme-aaa1"],
  ["Acme", ["acme", "acme-aaa1"], "acme-aaa2"],
  ["你好", [], "aaa1"],
  ["x".repeat(48), ["x".repeat(48)], `${"x".repeat(43)}-aaa1`],
])("%j beside %j", (name, taken, slug) => {
  let n = 0;
  expect(freeSlug(name, new Set(taken), () => `aaa${++n}`)).toBe(slug);
});
