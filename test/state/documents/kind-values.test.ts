import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { now } from "../../../src/state/documents/kind.ts";
import * as values from "../../../src/state/documents/kind-values.ts";
import { backfillKind, exportKind, runKind } from "../../../src/state/documents/schemas/batch-export.ts";
import { dashboardKind, insightKind, templateKind, tileKind } from "../../../src/state/documents/schemas/dashboard.ts";
import { cohortKind, flagKind } from "../../../src/state/documents/schemas/feature-flag.ts";

const files = {
  "batch-export": { backfillKind, exportKind, runKind },
  dashboard: { dashboardKind, insightKind, templateKind, tileKind },
  "feature-flag": { cohortKind, flagKind },
};

const file = join(import.meta.dirname, "../../../src/state/documents/kind-values.ts");

/** An object as source text; the marker of a time is the name of its constant. */
const sourceOf = (object: object): string =>
  JSON.stringify(object, (_, it) => (it === now ? "<now>" : it)).replaceAll('"<now>"', "now");

const formsOf = (authored: object): string =>
  Object.entries(authored)
    .map(([name, form]) => (form === "same" ? name : `${name}:${form}`))
    .join(" ");

/** `batch-export` is imported as `batchExport`. */
const spaceOf = (module: string): string => module.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());

function moduleText(): string {
  const imports = Object.keys(files).map((it) => `import type * as ${spaceOf(it)} from "./schemas/${it}.ts";`);
  const constants = Object.entries(files).flatMap(([of, kinds]) =>
    Object.entries(kinds).map(
      ([name, kind]) =>
        `export const ${name} = kindValues<typeof ${spaceOf(of)}.${name}>("${formsOf(kind.values.authored)}", ${sourceOf(kind.values.blanks)});`,
    ),
  );
  const head = `// Made from the kinds of ./schemas by test/state/documents/kind-values.test.ts: UPDATE_KINDS=1 writes it.`;
  return `${imports.join("\n")}\nimport { kindValues, now } from "./new-document.ts";\n\n${head}\n\n${constants.join("\n\n")}\n`;
}

test("the values that a start needs are those of the kinds (UPDATE_KINDS=1 writes them; then format)", () => {
  if (process.env.UPDATE_KINDS) writeFileSync(file, moduleText());
  const kinds: Record<string, { values: object }> = Object.assign({}, ...Object.values(files));
  const expected = Object.entries(kinds).map(([name, kind]) => [name, kind.values]);
  const written = Object.entries(values).map(([name, { authored, blanks }]) => [name, { authored, blanks }]);
  expect(Object.fromEntries(written)).toEqual(Object.fromEntries(expected));
});
