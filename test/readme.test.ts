import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commands } from "../src/cli/commands.ts";
import { type Option, placedOf } from "../src/cli/options.ts";
import { start } from "../src/cli/start.ts";
import { filterFields } from "../src/filter/fields.ts";
import type { FilterKind } from "../src/filter/types.ts";
import { outcomes, outcomeText } from "../src/kernel/outcomes.ts";
import { lintCodes } from "../src/lint/codes.ts";
import { differences } from "../src/model/dialect.ts";
import { dropReasons, warnings } from "../src/model/outcome.ts";
import { allEndpoints, type ListedEndpoint } from "./support/endpoints.ts";
import { blocksOf, readme, readmePath } from "./support/readme.ts";

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => "---"), ...rows]
    .map((row) => `| ${row.map((it) => it.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");

const projects = "/api/projects/:project_id";
const environments = "/api/environments/:project_id";

/** Is it a row below an environment that says what one below its project says? */
const isTwin = (path: string, paths: ReadonlySet<string>): boolean =>
  path.startsWith(environments) && paths.has(path.replace(environments, projects));

const endpointTable = (rows: readonly ListedEndpoint[]): string =>
  table(
    ["endpoint", "scope", "in the contract", "does"],
    rows.map((it) => [
      `${it.methods.join(", ")} \`${it.path}\``,
      it.scope === undefined ? "" : `\`${it.scope}\``,
      it.contract === undefined ? "" : "yes",
      it.summary,
    ]),
  );

const fieldTable = (kind: FilterKind): string =>
  table(
    ["field", "what it is", "example"],
    filterFields[kind].map(({ name, aliases, note, example }) => [
      [name, ...aliases].map((it) => `\`${it}\``).join(", "),
      note,
      `\`${example}\``,
    ]),
  );

const spelledPlace = (name: string, { optional, many }: Partial<Option>): string => {
  const word = `${name.toUpperCase()}${many ? "…" : ""}`;
  return optional ? `[${word}]` : word;
};

/** Tables that are made from the rows in the code. `UPDATE_README=1 npx vitest run test/readme.test.ts` writes them. */
const made: Record<string, () => string | Promise<string>> = {
  differences: () =>
    table(
      ["topic", "documented", "production", "source"],
      Object.values(differences).map((it) => [it.topic, it.documented, it.production, it.source]),
    ),
  outcomes: () =>
    table(
      ["outcome", "of", "what it means"],
      Object.entries(outcomes).map(([word, it]) => [`${it.sign} ${word}`, it.of, it.means]),
    ),
  reasons: () =>
    table(
      ["reason", "what happened", "what to do"],
      [
        ...Object.entries(dropReasons).map(([code, it]) => [`\`${code}\``, it.sentence, it.fix]),
        ...Object.entries(warnings).map(([code, it]) => [
          `\`${code}\` (${outcomeText("warned")})`,
          it.sentence,
          it.fix,
        ]),
      ],
    ),
  lint: () =>
    table(
      ["code", "", "what is odd", "what to do"],
      Object.entries(lintCodes).map(([code, it]) => [`\`${code}\``, it.severity, it.sentence, it.fix]),
    ),
  commands: () =>
    table(
      ["command", "does"],
      commands.map(({ name, options, describe }) => [
        `\`${[name, ...placedOf(options).map((it) => spelledPlace(it, options[it] ?? {}))].join(" ")}\``,
        describe,
      ]),
    ),
  "event fields": () => fieldTable("events"),
  "request fields": () => fieldTable("requests"),
  endpoints: async () => {
    const all = await allEndpoints();
    const paths = new Set(all.map((it) => it.path));
    const listed = all.filter((it) => !isTwin(it.path, paths));
    const areas = [...new Set(listed.map((it) => it.area))];
    const tables = areas.map(
      (area) => `### ${area}\n\n${endpointTable(listed.filter((it) => it.area === area))}`,
    );
    return [`What is served below \`${projects}\` is served below \`${environments}\`, too.`, ...tables].join(
      "\n\n",
    );
  },
};

const section = (name: string) => new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);

describe("the README", () => {
  test.each(Object.keys(made))("table of %s is the one in the code", async (name) => {
    const expected = await made[name]?.();
    const text = readme();
    const updated = text.replace(section(name), (_, open, close) => `${open}${expected}\n${close}`);
    expect(text).toMatch(section(name));
    if (process.env.UPDATE_README) writeFileSync(readmePath, updated);
    else expect(text).toBe(updated);
  });

  test("lists options of start by their names and defaults", () => {
    const [, options = ""] = readme().split("\nOptions of `start`:\n");
    const [table = ""] = options.trimStart().split("\n\n");
    const listed = [...table.matchAll(/^\| (`--[^|]*) \|([^|]*)\|/gm)].flatMap(([, names = "", value = ""]) =>
      [...names.matchAll(/--([\w-]+)/g)].map(([, name = ""]) => ({ name, value: value.trim() })),
    );
    expect(listed.length).toBeGreaterThan(10);
    for (const { name, value } of listed) {
      expect(start.options, `--${name}`).toHaveProperty(name);
      const fallback = start.options[name]?.default;
      if (fallback !== undefined) expect({ name, value }).toEqual({ name, value: fallback });
    }
    const unnamed = Object.keys(start.options).filter((name) => !readme().includes(`--${name}`));
    expect(unnamed).toEqual([]);
  });

  const quotes = [...readme().matchAll(/<!-- (test\/\S+) -->\n```(?:ts|js|python|ruby|go)?\n([\s\S]*?)```/g)];
  test("quotes tests", () => expect(quotes.length).toBeGreaterThan(1));
  test.each(quotes.map((found) => [found[1] ?? "", found[2] ?? ""]))(
    "quotes %s to the letter",
    (file, code) => {
      expect(readFileSync(join(import.meta.dirname, "..", file), "utf8")).toContain(code);
    },
  );

  test("has shell examples, all of which are run", () => {
    const [fromAnyLanguage, filters, live, ...others] = blocksOf("sh", "curl");
    expect(fromAnyLanguage).toContain("/__sim/events/wait");
    expect(filters).toContain("--data-urlencode");
    expect(live).toContain("curl -N");
    expect(others).toEqual([]);
  });

  test("names only control paths that are there", async () => {
    const known = (await allEndpoints()).map((it) => it.path.replace(/:\w+/g, "[^/]+"));
    const isKnown = (path: string) => known.some((it) => new RegExp(`^${it}$`).test(path));
    const named = [...readme().matchAll(/(?<!GET |POST |PUT |DELETE )\/__sim(?:\/[\w.{}:-]+)*/g)];
    expect(named.length).toBeGreaterThan(20);
    expect(named.map(([path]) => path).filter((path) => !isKnown(path))).toEqual([]);
  });
});
