import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type ParseError, parse as parseJsonc } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { startSim } from "../src/index.ts";
import { allBlocks, type Block, blocksOf, docFiles, readDoc, root } from "./support/docs.ts";
import { allEndpoints } from "./support/endpoints.ts";
import { generated } from "./support/generated-docs.ts";

const blockOf = (name: string) => {
  const quoted = name.replaceAll(/[^\w ]/g, "\\$&");
  return new RegExp(`(<!-- generated: ${quoted} -->\n)[\\s\\S]*?(<!-- /generated -->)`);
};

describe("generated blocks", () => {
  test.each(Object.keys(generated))("%s is what the code has", async (name) => {
    const files = docFiles.filter((file) => blockOf(name).test(readDoc(file)));
    expect(files, `pages with <!-- generated: ${name} -->`).toHaveLength(1);
    const [file = ""] = files;
    const made = await generated[name]?.();
    const text = readDoc(file);
    const updated = text.replace(blockOf(name), (_, open, close) => `${open}${made}\n${close}`);
    if (process.env.UPDATE_DOCS) writeFileSync(join(root, file), updated);
    else expect(text).toBe(updated);
  });

  test("are all known", () => {
    const names = docFiles.flatMap((file) =>
      [...readDoc(file).matchAll(/<!-- generated: (.*) -->/g)].map((it) => it[1]),
    );
    expect(names.sort()).toEqual(Object.keys(generated).sort());
  });
});

/** Blocks that are made from the code are checked above. */
const writtenBlocks = (): Block[] =>
  allBlocks().filter(({ file, line }) => {
    const before = readDoc(file).split("\n").slice(0, line).join("\n");
    return before.lastIndexOf("<!-- generated:") <= before.lastIndexOf("<!-- /generated -->");
  });

const inLanguage = (...languages: string[]): [place: string, block: Block][] =>
  writtenBlocks()
    .filter((it) => languages.includes(it.language))
    .map((it) => [`${it.file}:${it.line}`, it]);

/** Folders whose files the documentation quotes: they are run, or checked, by tests of their own. */
const sources = ["test/usage", "test/lab/assert/match/golden"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => !file.includes("node_modules") && statSync(join(root, folder, file)).isFile())
    .map((file) => readFileSync(join(root, folder, file), "utf8").split("\n")),
);

const indentOf = (line: string): number => line.length - line.trimStart().length;

/** True if the lines have these in a row, all of them indented further by the same amount, or not at all. */
function quotes(lines: readonly string[], wanted: readonly string[]): boolean {
  const [first = ""] = wanted;
  return lines.some((line, at) => {
    if (line.trimStart() !== first.trimStart()) return false;
    const more = line.slice(0, indentOf(line) - indentOf(first));
    return wanted.every((it, i) => lines[at + i] === (it === "" ? "" : more + it));
  });
}

describe("examples", () => {
  const code = inLanguage(..."ts tsx js jsx cjs vue html python ruby go php text".split(" "), "");
  test.each(code)("%s is quoted from a file that a test runs", (_, block) => {
    const wanted = block.code.replace(/\n$/, "").split("\n");
    expect(
      sources.some((lines) => quotes(lines, wanted)),
      block.code,
    ).toBe(true);
  });

  test("CONTRIBUTING.md has the test of test/support/example.test.ts", () => {
    expect(blocksOf("CONTRIBUTING.md", "ts", "test(")).toEqual([readDoc("test/support/example.test.ts")]);
  });

  test("are in a language that is checked", () => {
    const known = "ts tsx js jsx cjs vue html python ruby go php text sh json jsonc yaml dotenv".split(" ");
    const others = allBlocks().filter((it) => ![...known, ""].includes(it.language));
    expect(others.map((it) => `${it.file}:${it.line} ${it.language}`)).toEqual([]);
  });
});

/** The options of each command, as docs/cli.md lists them. */
function listedCommands(): Map<string, Set<string>> {
  const text = readDoc("docs/cli.md");
  const [head = "", ...sections] = text.split(/^### phx-sim /m);
  const optionsIn = (it: string) => [...it.matchAll(/^\| `--([\w-]+)`/gm)].map((found) => found[1] ?? "");
  const shared = optionsIn(head);
  return new Map(
    sections.map((section) => {
      const name = /^[a-z-]+(?: [a-z-]+)?(?= |$)/m.exec(section)?.[0] ?? "";
      return [name, new Set([...shared, ...optionsIn(section), "help", "version", "json"])];
    }),
  );
}

/** Command lines of phx-sim in a script, without what follows ` -- `, a pipe or a comment. */
const linesOf = (script: string): string[] =>
  [...script.replaceAll("\\\n", " ").matchAll(/(?:^|[;&(|`"] *|npx (?:--yes )?)phx-sim((?: .*)?)$/gm)].map(
    ([, line = ""]) => line.replace(/ -- .*| [|#>] .*|\)".*/, "").trim(),
  );

describe("command lines", () => {
  const commands = listedCommands();
  const nouns = new Map([...commands.keys()].map((it) => [it.split(" ")[0]?.replace(/s$/, ""), it.split(" ")[0]]));

  /** The command of a line, with a noun in the singular, or the default one. */
  function commandOf(words: readonly string[]): string {
    const [first = "", second = ""] = words;
    const noun = nouns.get(first) ?? first;
    return [`${noun} ${second}`, first].find((it) => commands.has(it)) ?? (/^[a-z]/.test(first) ? "" : "start");
  }

  function mistakesIn(line: string): string[] {
    const words = line.split(/\s+/).filter(Boolean);
    if (words[0] === "help" || /^--?(?:help|version)$/.test(line)) return [];
    const name = commandOf(words);
    const options = commands.get(name);
    if (!options) return [`no such command: ${line}`];
    return [...line.matchAll(/ --(?:no-)?([a-z][\w-]*)/g)]
      .map(([, option = ""]) => option)
      .filter((it) => !options.has(it) && !options.has(`no-${it}`))
      .map((it) => `phx-sim ${name} has no --${it}`);
  }

  test.each(inLanguage("sh", "yaml"))("%s has commands and options that exist", (_, { code }) => {
    expect(linesOf(code).flatMap(mistakesIn)).toEqual([]);
  });

  test("in the text, too", () => {
    const found = docFiles.flatMap((file) =>
      [...readDoc(file).matchAll(/`(?:npx )?phx-sim( [^`]*)?`/g)].map(([, line = ""]) => [file, line.trim()] as const),
    );
    expect(found.length).toBeGreaterThan(40);
    const whole = found.filter(([, line]) => !/[|…<]|[A-Z]{2}/.test(line.replace(/ -- .*/, "")));
    const mistakes = whole.flatMap(([file, line]) =>
      mistakesIn(line.replace(/ -- .*/, "")).map((it) => `${file}: ${it}`),
    );
    // A noun alone stands for its commands: `phx-sim tape`.
    expect(mistakes.filter((it) => !/no such command: [a-z]+$/.test(it))).toEqual([]);
  });

  test("of curl are all run", () => {
    const curl = inLanguage("sh").filter(([, it]) => it.code.includes("curl"));
    expect(curl.map(([, it]) => it.file)).toEqual(["docs/events.md", "docs/events.md", "docs/testing/http.md"]);
  });
});

describe("files", () => {
  const parsed = (block: Block): unknown => {
    if (block.language === "yaml") return parseYaml(block.code);
    const errors: ParseError[] = [];
    const value = parseJsonc(block.code, errors, { allowTrailingComma: block.language === "jsonc" });
    expect(errors).toEqual([]);
    return value;
  };
  const isScenario = ({ code }: Block) => /^"?(?:flags|version|extends)"?:|^ *"organizations"/m.test(code);

  test.each(inLanguage("json", "jsonc", "yaml"))("%s can be read", async (_, block) => {
    const value = parsed(block);
    expect(value).toBeTypeOf("object");
    if (!isScenario(block) || block.code.includes("plan.schema")) return;
    await using sim = await startSim({ scenario: value as object });
    expect((await sim.info()).version).toBeTypeOf("string");
  });

  test.each(inLanguage("dotenv"))("%s sets variables", (_, { code }) => {
    for (const line of code.trim().split("\n")) expect(line).toMatch(/^(?:# .*|[A-Z][A-Z_]*=\S*)$/);
  });
});

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

const withoutCode = (text: string): string => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "");

const anchorsIn = (file: string): Set<string> => {
  const text = withoutCode(readDoc(file));
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map((it) => anchorOf(it[1] ?? ""));
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map((it) => it[1] ?? "")]);
};

describe("links", () => {
  test.each([...docFiles, "CONTRIBUTING.md"])("%s leads to files and headings that exist", (file) => {
    const links = [...withoutCode(readDoc(file)).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)];
    const broken = links.filter(([, path = "", anchor]) => {
      const target = path === "" ? file : relative(root, join(root, dirname(file), path));
      const exists = statSync(join(root, target), { throwIfNoEntry: false }) !== undefined;
      return !exists || (anchor !== undefined && !anchorsIn(target).has(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test("every page is linked from the table of contents", () => {
    const contents = readDoc("docs/README.md");
    const pages = docFiles.filter((it) => it.startsWith("docs/") && it !== "docs/README.md");
    expect(pages.filter((it) => !contents.includes(`](${it.slice("docs/".length)})`))).toEqual([]);
  });

  test("nothing refers to a file that is not in the package", () => {
    const { files } = JSON.parse(readDoc("package.json"));
    expect(files).toEqual(expect.arrayContaining(["docs", "scenarios", "CHANGELOG.md"]));
    const unpacked = (path: string) =>
      statSync(join(root, path), { throwIfNoEntry: false }) !== undefined &&
      !files.some((it: string) => path === it || path.startsWith(`${it}/`));
    const named = docFiles.flatMap((file) =>
      [...readDoc(file).matchAll(/\b(?:test|src|ui|build)\/[\w./-]*\w/g)].map(([path]) => path),
    );
    expect(named.filter(unpacked)).toEqual([]);
  });

  test("messages refer to pages that exist", () => {
    const texts = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(join(root, "src", file), "utf8"));
    const named = texts.flatMap((text) => [...text.matchAll(/\b(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g)]);
    expect(named.length).toBeGreaterThan(2);
    for (const [, file = "", anchor] of named) {
      expect(docFiles).toContain(file);
      if (anchor !== undefined) expect(anchorsIn(file), file).toContain(anchor);
    }
    expect(texts.filter((text) => /\bREADME\b/.test(text))).toEqual([]);
  });
});

test("control paths that are named exist", async () => {
  const known = (await allEndpoints()).map((it) => it.path.replace(/:\w+/g, "[^/]+"));
  const isKnown = (path: string) => known.some((it) => new RegExp(`^${it}$`).test(path));
  const text = docFiles.map(readDoc).join("\n");
  const named = [...text.matchAll(/(?<!GET |POST |PUT |DELETE )\/__sim(?:\/[\w.{}:-]+)*/g)];
  expect(named.length).toBeGreaterThan(20);
  expect(named.map(([path]) => path).filter((path) => !isKnown(path))).toEqual([]);
});

describe("the README", () => {
  test("is short", () => expect(readDoc("README.md").split("\n").length).toBeLessThanOrEqual(250));

  test("shows the page", () => {
    const [, image = ""] = /!\[[^\]]+\]\((docs\/images\/[^)]+)\)/.exec(readDoc("README.md")) ?? [];
    expect(statSync(join(root, image)).size).toBeLessThan(200_000);
  });
});
