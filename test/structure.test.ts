import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";

const source = join(import.meta.dirname, "../src");
const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => /\.c?ts$/.test(file));

const _sliceOf = (file: string): string =>
  file.includes("/") ? (file.split("/")[0] ?? "") : file.replace(/\.ts$/, "");

/** Static, dynamic and type imports alike: `from "x"`, `import "x"`, `import("x")`. */
const importPattern = /(?:^(?:import|export)\b[^"';]*?\bfrom\s*|^import\s*|\bimport\(\s*)"([^"]+)"/gm;

const withoutComments = (code: string): string => code.replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");

const all = files.flatMap((file) =>
  [...withoutComments(readFileSync(join(source, file), "utf8")).matchAll(importPattern)].map(
    ([how, target = ""]) => ({
      file,
      target: target.startsWith(".") ? posix.join(posix.dirname(file), target) : target,
      isLocal: target.startsWith("."),
      isLate: how.startsWith("import("),
    }),
  ),
);
const local = all.filter((it) => it.isLocal);
const _packages = all.filter(({ isLocal, target }) => !isLocal && !target.startsWith("node:"));

describe("the structure of src", () => {
  test("the source was found", () => {
    expect(files.length).toBeGreaterThan(20);
    expect(local.length).toBeGreaterThan(20);
  });

  test("no file imports itself through others, types included", () => {
    const graph = new Map<string, string[]>();
    for (const { file, target, isLate } of local) {
      if (!isLate) graph.set(file, [...(graph.get(file) ?? []), target]);
    }
    const done = new Set<string>();
    const path: string[] = [];
    const cycles: string[] = [];
    function visit(file: string): void {
      const at = path.indexOf(file);
      if (at >= 0) cycles.push([...path.slice(at), file].join(" → "));
      if (at >= 0 || done.has(file)) return;
      path.push(file);
      for (const next of graph.get(file) ?? []) visit(next);
      path.pop();
      done.add(file);
    }
    for (const file of files) visit(file);
    expect(cycles).toEqual([]);
  });

  test("built-in modules are imported by name or as a whole, as build/code.mjs reads them", () => {
    const namespaces = files.filter((file) =>
      /^import \* as \w+ from "node:/m.test(readFileSync(join(source, file), "utf8")),
    );
    expect(namespaces).toEqual([]);
  });

  test("no file or folder is called utils, helpers or common", () => {
    expect(files.filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\.ts|\/)/.test(file))).toEqual([]);
  });

  test("the name of an exported type has one meaning", () => {
    // What `require` of phx-sim/jest gives repeats the names of the module.
    const named = files
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => {
        const code = readFileSync(join(source, file), "utf8");
        const names = code.matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm);
        return [...names].map(([, name = ""]) => ({ name, file }));
      });
    const twice = named.filter(({ name }, i) => named.findIndex((it) => it.name === name) !== i);
    expect(twice).toEqual([]);
  });

  test("vitest hoists nothing in what is built: it would rewrite the module, and lose exports", () => {
    // `regexpHoistable` of @vitest/mocker
    const hoisted = /\b(?:vi|vitest)\s*\.\s*(?:mock|unmock|hoisted|doMock|doUnmock)\s*\(/;
    const built = readdirSync(join(source, "../dist"), { recursive: true, encoding: "utf8" }).filter((it) =>
      /\.[cm]?js$/.test(it),
    );
    const wrong = built.filter((it) => hoisted.test(readFileSync(join(source, "../dist", it), "utf8")));
    expect(built).toContain(join("testing", "vitest.js"));
    expect(wrong).toEqual([]);
  });
});
