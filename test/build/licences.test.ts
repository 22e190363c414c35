import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const separator = `\n\n${"-".repeat(80)}\n\n`;
const [title, ...entries] = readFileSync(join(root, "THIRD_PARTY_LICENSES"), "utf8").split(separator);

const entryOf = (name: string): string => entries.find((it) => it.startsWith(`${name} `)) ?? "";

test("the file has a title, and each entry a licence and its text", () => {
  expect(title).toContain("phx-sim contains");
  for (const it of entries) expect(it.slice(0, 200)).toMatch(/^.+ \(.+\)/);
});

test.each("postcss nanoid picocolors mitt @xstate/fsm @posthog/rrdom @posthog/rrweb-snapshot".split(" "))(
  "%s, which is inside a bundle of a package",
  (name) => expect(entryOf(name)).toMatch(/Permission (?:to use|is hereby granted)/),
);

/** The Rust crates whose messages are in the WebAssembly of the package. */
const wasm = readFileSync(join(root, "dist/packages/rregex.wasm"), "latin1");
const crates = new Set(
  [...wasm.matchAll(/\/registry\/src\/[^/]+\/([\w-]+?)-(\d+\.\d+\.\d+)/g)].map(
    ([, name, version]) => `${name} ${version}`,
  ),
);

test("every crate in the WebAssembly", () => {
  expect([...crates]).toEqual(expect.arrayContaining([expect.stringMatching(/^regex-automata /)]));
  for (const crate of crates) expect(entryOf(crate), crate).toContain("Permission is hereby granted");
  for (const name of ["wasm-bindgen", "serde", "Rust's standard library"]) expect(entryOf(name)).not.toBe("");
});

test("C code in the WebAssembly of zstd-codec, and its own text", () => {
  expect(entryOf("Zstandard")).toContain("Redistribution and use in source and binary forms");
  expect(entryOf("zstd-codec")).toContain("Copyright (c) 2017 Yoshihito Hirakawa");
});
