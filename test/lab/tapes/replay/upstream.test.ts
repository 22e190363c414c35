import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSim } from "../../../../src/index.ts";
import { answer, asked, exchange, started, tapeOf } from "./tapes.ts";

const dashboards = "GET /api/projects/1/dashboards/";
const tape = () => tapeOf([exchange(dashboards, answer({ results: [] }))]);

/** A service that says what it was asked, compressed. */
async function service(): Promise<string> {
  const server = createServer((req, res) => {
    res.setHeader("content-type", "application/json");
    res.setHeader("content-encoding", "gzip");
    res.setHeader("access-control-allow-origin", "https://elsewhere.test");
    req.resume().on("end", () => res.end(gzipSync(JSON.stringify([req.method, req.url, req.headers.authorization]))));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("on miss: upstream", () => {
  test("what is not on the tape is asked of the service", async () => {
    const sim = await started({ tape: await tape(), upstream: await service(), onMiss: "upstream" });
    expect((await asked(sim, dashboards)).source).toBe("tape:checkout#1");
    const headers = { authorization: "Bearer phx_x", origin: "http://app.test" };
    const given = await asked(sim, "POST /api/projects/1/cohorts/?a=1", { body: { name: "x" }, headers });
    expect(given).toMatchObject({
      status: 200,
      source: "upstream",
      text: '["POST","/api/projects/1/cohorts/?a=1","Bearer phx_x"]',
    });
    expect(given.headers.get("access-control-allow-origin")).toBe("http://app.test");
    const [last] = await sim.requests.list();
    expect(last).toMatchObject({ source: "upstream", outcome: "answered" });
  });

  test("a service that does not exist is reported", async () => {
    const sim = await started({ tape: await tape(), upstream: "http://127.0.0.1:9", onMiss: "upstream" });
    const given = await asked(sim, "GET /api/users/@me/");
    expect([given.status, JSON.parse(given.text)]).toMatchObject([502, { code: "upstream_unreachable" }]);
  });

  test("offline it is refused at the start", async () => {
    const starting = startSim({ tape: await tape(), upstream: "us", onMiss: "upstream", offline: true });
    await expect(starting).rejects.toMatchObject({
      code: "offline",
      message: expect.stringContaining("must not be reached"),
    });
  });
});
