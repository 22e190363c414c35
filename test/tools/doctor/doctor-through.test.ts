import { afterEach, describe, expect, test } from "vitest";
import { nodeProxy, type RunningProxy } from "../../lab/proxy-check/node-proxy.ts";
import { endAll, newFolder, post, runHere, startReady } from "../../support/phx-sim.ts";

const open: RunningProxy[] = [];

afterEach(async () => {
  for (const proxy of open.splice(0)) await proxy.close();
  await endAll();
});

const doctor = (url: string, through: string, ...more: string[]) =>
  runHere(["doctor", "--through", through, "--url", url, ...more], { cwd: newFolder() });

describe("phx-sim doctor --through", () => {
  test("a sound proxy, then one with mistakes, as lines and as JSON", async () => {
    const { ready } = await startReady(["--memory"], { cwd: newFolder() });
    const sound = await nodeProxy(ready.url);
    const broken = await nodeProxy(ready.url, {
      passes(request) {
        request.target = `/ingest${request.target}`;
        request.body = Buffer.from(request.body.toString());
      },
      returns(answer) {
        answer.headers.server = "nginx/1.28.0";
      },
    });
    open.push(sound, broken);

    const good = await doctor(ready.url, sound.url);
    expect({ code: good.code, stderr: good.stderr }).toEqual({ code: 0, stderr: "" });
    expect(good.stdout).toContain(`${sound.url} → ${ready.url}\n`);
    expect(good.stdout).toMatch(/✓ gzip +POST \/i\/v0\/e\/ +200 {2}as sent\n/);
    expect(good.stdout).toMatch(/✓ config +GET \/array\/TOKEN\/config +200 {2}as sent\n/);
    expect(good.stdout).toMatch(/✓ 20 requests went through; nothing of them is kept\n$/);

    const bad = await doctor(ready.url, broken.url.slice("http://".length));
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain(`${broken.url} (nginx) → ${ready.url}\n`);
    expect(bad.stdout).toMatch(/✗ gzip .* prefix_kept, body_text\n/);
    expect(bad.stdout).toMatch(
      /✗ prefix_kept: .*sent \/array\/.*, arrived \/ingest\/array\/.* → end proxy_pass in a slash/,
    );
    expect(bad.stdout).toMatch(/✗ 2 problems: docs\/proxies\.md\n$/);

    const { code, stdout } = await doctor(ready.url, broken.url, "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      passed: false,
      frameworks: ["nginx"],
      findings: [
        { code: "prefix_kept", level: "problem" },
        { code: "body_text", level: "problem" },
      ],
    });
  });

  test("a proxy that never answers, and one that does not run", async () => {
    const { ready } = await startReady(["--memory"], { cwd: newFolder() });
    const silent = await nodeProxy(ready.url, { before: () => true });
    open.push(silent);
    const first = await doctor(ready.url, silent.url, "--timeout", "150ms");
    expect(first.code).toBe(1);
    expect(first.stdout).toContain("✗ timeout: ");
    const second = await doctor(ready.url, "http://127.0.0.1:1/ingest");
    expect(second.code).toBe(1);
    expect(second.stdout).toContain("✗ unreachable: ");
  });

  test("mistakes end with 2, and a missing sim with its own code", async () => {
    const { ready } = await startReady(["--memory"], { cwd: newFolder() });
    const rows: [string, string[], RegExp][] = [
      ["https://eu.i.posthog.com", [], /--through names the real service/],
      ["mailto://x", [], /--through is not an http address/],
      [ready.url, [], /--through is the address of the sim itself/],
      ["http://127.0.0.1:1", ["--timeout", "10ms"], /--timeout/],
    ];
    for (const [through, more, said] of rows) {
      const { code, stderr } = await doctor(ready.url, through, ...more);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(said) });
    }
    const none = await doctor("http://127.0.0.1:1", "http://127.0.0.1:2");
    expect(none.stderr).toMatch(/no phx-sim answers at/);
    expect(none.code).toBeGreaterThan(2);
  });

  test("a sim that records refuses the check", async () => {
    const { ready } = await startReady(["--memory"], { cwd: newFolder() });
    const upstream = await startReady(["--memory"], { cwd: newFolder() });
    const started = await post(`${ready.url}/__sim/recording/start`, { upstream: upstream.ready.url });
    expect(started.status).toBeLessThan(300);
    const { code, stderr } = await doctor(ready.url, "http://127.0.0.1:1");
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("while it records") });
  });
});
