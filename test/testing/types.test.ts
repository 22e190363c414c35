import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** What a compiler prints; "" if the program compiles. */
const compile = (compiler: string, project: string): Promise<string> =>
  new Promise((resolve) => {
    const tsc = join(root, "node_modules", compiler, "bin/tsc");
    execFile(process.execPath, [tsc, "-p", project], (error, out) => resolve(out || (error?.message ?? "")));
  });

/** As a user's compiler sees the package: its `exports`, its built declarations, by `import` and by `require`. */
test("the types of the runners hold, and refuse what is wrong", async () => {
  expect(await compile("typescript", join(import.meta.dirname, "types"))).toBe("");
});

const compilerOptions = {
  ...{ target: "es2022", lib: ["es2022", "esnext.disposable", "dom"], strict: true },
  ...{ module: "commonjs", moduleResolution: "node", esModuleInterop: true, types: ["node"] },
  ...{ skipLibCheck: true, noEmit: true, typeRoots: [join(root, "node_modules/@types")] },
};

const consumer = (subpaths: readonly string[]): string => `
import { startSim, type Project } from "phx-sim";
${subpaths.map((it, i) => `import * as part${i} from "phx-sim/${it}";\nexport const keys${i} = Object.keys(part${i});`).join("\n")}
import { project } from "phx-sim/jest";
export const url: Promise<string> = startSim().then((it) => it.url);
export const made: Promise<Project> = project({ flags: { beta: true } });
// @ts-expect-error the types are known
startSim(1);
// @ts-expect-error the types are known
project(1);
`;

/** TypeScript 7 has no `moduleResolution: node`, which does not read `exports`. */
test("a compiler without exports finds the types of every subpath", async () => {
  const manifest: { exports: object } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const subpaths = Object.keys(manifest.exports)
    .filter((it) => it !== "." && !it.endsWith(".json"))
    .map((it) => it.slice(2));
  const folder = await mkdtemp(join(tmpdir(), "phx-node10-"));
  try {
    await mkdir(join(folder, "node_modules"));
    await symlink(root, join(folder, "node_modules/phx-sim"), "junction");
    await writeFile(join(folder, "consumer.ts"), consumer(subpaths));
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["consumer.ts"] }),
    );
    expect(subpaths).toContain("vitest/matchers");
    expect(await compile("typescript-5", folder)).toBe("");
  } finally {
    await rm(folder, { recursive: true });
  }
});
