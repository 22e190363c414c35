import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { phxSim } from "./phx-sim.ts";

const folder = mkdtempSync(join(tmpdir(), "phx-sim-start-load-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;

/** Has Node tell on stderr what it imports. */
const tellImports = dataUrl(`
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

/** The files that a start has imported when it is ready; what is warmed up later begins with these rooms. */
async function importedAtStart(): Promise<string[]> {
  const args = ["start", "--port", "0", "--data", folder];
  const sim = phxSim(args, { cwd: folder, nodeOptions: ["--import", tellImports] });
  await sim.says("stdout", /is ready at/);
  const { stderr } = await sim.signal("SIGKILL");
  const files = [...stderr.matchAll(/^imports file:(.*)$/gm)].map(([, path = ""]) => path);
  const isLate = (path: string) => /\/dist\/(ingestion|book)-/.test(path);
  const end = files.findIndex(isLate);
  return [...new Set(end === -1 ? files : files.slice(0, end))];
}

test("a start imports few files, no package, and nothing of the control API", async () => {
  const files = await importedAtStart();
  expect(files.filter((it) => it.includes("/node_modules/"))).toEqual([]);
  expect(files.filter((it) => /\/dist\/(control|exports|resources|commands)-/.test(it))).toEqual([]);
  expect(files.some((it) => it.endsWith("/dist/index.js"))).toBe(true);
  expect(files.length).toBeLessThanOrEqual(20);
});
