import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../src/index.ts";
import { readTape } from "../../src/lab/tapes/format/read.ts";
import { newFolder } from "../support/folder.ts";

const list = "/api/projects/1/dashboards/";

/** A service with two pages of dashboards, below a path. Like the real one it names itself as it was asked. */
async function service(prefix = ""): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.headers.host}${req.url}`);
    const own = `http://${req.headers.host}`;
    const { pathname, searchParams } = new URL(req.url ?? "", own);
    if (pathname === `${prefix}/old`) return void res.writeHead(302, { location: `${own}${prefix}${list}` }).end();
    const isSecond = searchParams.get("offset") === "1";
    const body = {
      count: 2,
      next: isSecond ? null : `${own}${prefix}${list}?limit=1&offset=1`,
      previous: isSecond ? `${own}${prefix}${list}?limit=1` : null,
      results: [{ id: isSecond ? 2 : 1, name: `see ${own}`, big: 1 }],
    };
    const text = JSON.stringify(body).replace('"big":1', '"big":12345678901234567890');
    const isPacked = /gzip/.test(String(req.headers["accept-encoding"] ?? ""));
    const bytes = isPacked ? gzipSync(text) : Buffer.from(text);
    res.writeHead(200, {
      "content-type": "application/json",
      "content-length": bytes.length,
      ...(isPacked && { "content-encoding": "gzip" }),
    });
    res.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`, asked };
}

async function started(options: SimOptions): Promise<Sim> {
  const sim = await startSim(options);
  onTestFinished(() => sim.close());
  return sim;
}

interface Page {
  next: string | null;
  previous: string | null;
  results: { id: number; name: string }[];
}
type Ask = (url: string) => Promise<{ text: string; page: Page }>;

const direct: Ask = async (url) => {
  const text = await (await fetch(url)).text();
  return { text, page: JSON.parse(text) };
};

/** Through the sim as a proxy, in absolute form. */
const proxied =
  (sim: Sim): Ask =>
  (url) =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(sim.url);
      const { host } = new URL(url);
      request({ host: hostname, port, path: url, headers: { host } }, (answer) => {
        answer
          .toArray()
          .then((chunks) => Buffer.concat(chunks).toString())
          .then((text) => resolve({ text, page: JSON.parse(text) }))
          .catch(reject);
      })
        .on("error", reject)
        .end();
    });

/** All pages from the first one on, by the links that the answers give. */
async function walk(first: string, ask: Ask): Promise<{ ids: number[]; links: (string | null)[] }> {
  const ids: number[] = [];
  const links: (string | null)[] = [];
  for (let url: string | null = first; url !== null && ids.length < 5; ) {
    const { page }: { page: Page } = await ask(url);
    ids.push(...page.results.map(({ id }) => id));
    links.push(page.next, page.previous);
    url = page.next;
  }
  return { ids, links };
}

const walked = (origin: string) => ({
  ids: [1, 2],
  links: [`${origin}${list}?limit=1&offset=1`, null, null, `${origin}${list}?limit=1`],
});

async function urlsOn(tape: string): Promise<string[]> {
  const urls: string[] = [];
  for await (const { req } of readTape(tape)) urls.push(req.url);
  return urls;
}

const tapeFile = () => join(newFolder(), "pages.tape.ndjson");

describe("links to further pages lead to the sim", () => {
  test.each(["", "/posthog"])("recorded and replayed, the service below %j", async (prefix) => {
    const far = await service(prefix);
    const tape = tapeFile();
    const near = await started({ upstream: far.url, tape });
    expect(await walk(`${near.url}${list}?limit=1`, direct)).toEqual(walked(near.url));
    await near.recording.stop();
    const { origin } = new URL(far.url);
    expect(await urlsOn(tape)).toEqual([`${origin}${list}?limit=1`, `${origin}${list}?limit=1&offset=1`]);
    const again = await started({ tape });
    expect(await walk(`${again.url}${list}?limit=1`, direct)).toEqual(walked(again.url));
    expect((await again.tapes.get())?.ledger).toMatchObject({ hits: 2, unused: [], misses: [] });
    expect(far.asked).toHaveLength(2);
  });

  test("only they are changed; the tape has them as they were", async () => {
    const far = await service();
    const tape = tapeFile();
    const near = await started({ upstream: far.url, tape });
    const { text } = await direct(`${near.url}${list}`);
    expect(text).toContain(`"name":"see ${far.url}","big":12345678901234567890`);
    const last = await fetch(`${near.url}${list}?offset=1&x`);
    expect(last.headers.get("content-encoding")).toBeNull();
    await near.recording.stop();
    for await (const { res } of readTape(tape)) expect(JSON.stringify(res?.body)).toContain(`${far.url}${list}`);
  });

  test.each([
    ["through the proxy, for the service's own host", "http://us.posthog.com"],
    ["with the port that was asked for", "http://us.posthog.com:8080"],
  ])("%s", async (_, origin) => {
    const far = await service();
    const tape = tapeFile();
    const near = await started({ upstream: far.url, tape });
    expect(await walk(`${origin}${list}?limit=1`, proxied(near))).toEqual(walked(origin));
    await near.recording.stop();
    const again = await started({ tape });
    expect(await walk(`${origin}${list}?limit=1`, proxied(again))).toEqual(walked(origin));
    expect(far.asked).toHaveLength(2);
  });

  test("what a tape has no response for, and the service has", async () => {
    const far = await service();
    const tape = tapeFile();
    const near = await started({ upstream: far.url, tape });
    await direct(`${near.url}${list}?limit=1`);
    await near.close();
    const again = await started({ tape, upstream: far.url, onMiss: "upstream" });
    expect(await walk(`${again.url}${list}?limit=1`, direct)).toEqual(walked(again.url));
  });

  test("a redirect within the service leads to the sim, recorded and replayed", async () => {
    const far = await service();
    const tape = tapeFile();
    const near = await started({ upstream: far.url, tape });
    const location = async (sim: Sim) =>
      (await fetch(`${sim.url}/old`, { redirect: "manual" })).headers.get("location");
    expect(await location(near)).toBe(`${near.url}${list}`);
    await near.recording.stop();
    const again = await started({ tape });
    expect(await location(again)).toBe(`${again.url}${list}`);
  });
});
