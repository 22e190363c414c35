import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { readEventFilter } from "../../../src/state/journal/filter/read.ts";
import { firstItem, projectKeyIn } from "../../../ui/api/project-key.ts";
import { nameTerm } from "../../../ui/parts/filter-box/filter-text.ts";
import { type Target, waysFor } from "../../../ui/views/start/snippets.ts";
import { openSim } from "../../support/sim.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");

const { sim } = await openSim();

const target = (): Target => ({
  host: sim.url,
  projectKey: sim.apiKey,
  personalKey: sim.personalApiKey,
  projectId: sim.projectId,
});

const last = (id: string, of: Target = target()): string =>
  waysFor(of)
    .find((way) => way.id === id)
    ?.snippets.at(-1)?.code ?? "";

describe("what is to be pasted", () => {
  test("curl works as it stands", async () => {
    await using project = await sim.project();
    await run("sh", ["-c", last("curl", { ...target(), projectKey: project.apiKey })]);
    expect(await project.events.waitFor("hello")).toMatchObject({ distinct_id: "user-1", outcome: "kept" });
  });

  test("the Node program works as it stands", async () => {
    await using project = await sim.project();
    const code = last("node", { ...target(), projectKey: project.apiKey });
    await run(process.execPath, ["--input-type=module", "--eval", code], { cwd: root });
    expect(await project.events.waitFor("hello")).toMatchObject({ distinct_id: "user-1", outcome: "kept" });
  });

  test("the variables are those of phx-sim env", () => {
    const env = waysFor(target()).find(({ id }) => id === "env");
    const lines = env?.snippets.flatMap(({ code }) => code.split("\n")) ?? [];
    expect(lines).toEqual(
      expect.arrayContaining([
        `POSTHOG_HOST=${sim.url}`,
        `NEXT_PUBLIC_POSTHOG_KEY=${sim.apiKey}`,
        `VITE_PUBLIC_POSTHOG_HOST=${sim.url}`,
        `POSTHOG_PERSONAL_API_KEY=${sim.personalApiKey}`,
      ]),
    );
  });

  test("every way has the host and the key in it, and nothing that breaks out of it", () => {
    const odd = { host: sim.url, projectKey: `k"'</script>`, personalKey: null, projectId: 1 };
    for (const { id, snippets } of waysFor(odd)) {
      const code = snippets.map((it) => it.code).join("\n");
      expect([id, code.includes(sim.url)]).toEqual([id, true]);
      if (id === "html") expect(code.match(/<\/script>/g)).toHaveLength(2);
      if (id !== "env" && id !== "next") expect(code).not.toContain(`"k"'`);
      if (id === "curl") expect(code).toContain(`'\\''`);
    }
    const all = waysFor(odd).flatMap(({ snippets }) => snippets.map(({ code }) => code));
    expect(all.join("\n")).not.toContain("PERSONAL");
  });
});

test.each(["signed_up", "", "a\nb", "\ttab", 'say "hi" \\ bye', "a*", "\ud800", "ä 🦆"])(
  "the link of the name %j finds its events",
  (name) => {
    const reading = readEventFilter(nameTerm(name));
    expect("filter" in reading && reading.filter.indexed.event).toBe(name);
  },
);

test.each([
  [{ api_key: "a", event: "x" }, "a"],
  [{ token: "t" }, "t"],
  [[{ properties: { token: "p" } }], "p"],
  [{ batch: [{ api_key: "b" }] }, "b"],
  [{ event: "x" }, undefined],
  [{ api_key: 7 }, undefined],
  ["text", undefined],
  [undefined, undefined],
])("the key that came in %j", (body, key) => expect(projectKeyIn(body) ?? projectKeyIn(firstItem(body))).toBe(key));
