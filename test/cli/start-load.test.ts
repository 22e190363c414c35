import { expect, test } from "vitest";
import { newFolder } from "../support/folder.ts";
import { phxSim } from "../support/phx-sim.ts";

const folder = newFolder();

const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** Has Node report on stderr what it imports. */
const reportImports = dataUrl(`
  import { register } from "node:module";
  register(${JSON.stringify(
    dataUrl(`
      export async function resolve(name, context, next) {
        const found = await next(name, context);
        process._rawDebug("imports " + found.url);
        return found;
      }
    `),
  )});
`);

/** The files that were imported from the start to the stop. */
async function imported(): Promise<string[]> {
  const args = ["start", "--port", "0", "--data", folder];
  const sim = phxSim(args, { cwd: folder, nodeOptions: ["--import", reportImports] });
  await sim.says("stdout", /is ready at/);
  const { stderr } = await sim.signal("SIGTERM");
  return [...new Set([...stderr.matchAll(/^imports file:(.*)$/gm)].map(([, path = ""]) => path))];
}

/** Without what is loaded once the start is over. */
function atStart(files: readonly string[]): readonly string[] {
  const end = files.findIndex((it) => it.endsWith("/dist/after-start.js"));
  return end === -1 ? files : files.slice(0, end);
}

test("a start loads few files: no package, no client, nothing of the other APIs; nor does the stop", async () => {
  const all = await imported();
  const names = atStart(all).map((it) => /\/(?:dist|bin|node_modules)\/.*$/.exec(it)?.[0] ?? it);
  expect(names.toSorted()).toEqual([
    "/bin/phx-sim.js",
    "/dist/cli/main.js",
    "/dist/command-line.js",
    "/dist/parts.js",
    "/dist/rolldown-runtime.js",
    "/dist/shared.js",
    "/dist/start.js",
  ]);
  const later = /\/dist\/(client|assertions|control|commands|management|late|tapes|packages)\b/;
  expect(all.filter((it) => later.test(it))).toEqual([]);
});
