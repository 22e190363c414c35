// biome-ignore-all lint/suspicious/noExplicitAny: what runs in the browser has other globals than the test process
// biome-ignore-all lint/suspicious/noControlCharactersInRegex: they are what is looked for
// biome-ignore-all lint/security/noGlobalEval: it must not work
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import { views } from "../../support/inspector-views.ts";
import { inspectorStage, settling } from "./support.ts";

const stage = inspectorStage();

/** A page of another user, on this machine: which a developer's browser may have open, too. */
interface Stranger extends AsyncDisposable {
  readonly url: string;
  /** Paths that were asked for. */
  readonly asked: string[];
}

async function openStranger(): Promise<Stranger> {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url);
    const type = url.endsWith(".js") ? "text/javascript" : "text/html";
    response.writeHead(200, { "content-type": type, "access-control-allow-origin": "*" });
    response.end(url.endsWith(".js") ? "globalThis.hacked = true" : "<!doctype html><title>x</title><body></body>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What there is to be stolen or destroyed. */
async function fill(sim: Sim): Promise<void> {
  const body = JSON.stringify({ api_key: sim.apiKey, event: "secret", distinct_id: "victim" });
  const headers = { "content-type": "application/json" };
  expect((await fetch(`${sim.url}/i/v0/e/`, { method: "POST", headers, body })).status).toBe(200);
}

async function remains(sim: Sim): Promise<unknown> {
  const { projects, clock } = await sim.info();
  const events = (await sim.events.list()).map(({ event }) => event);
  return [events, (await sim.faults.list()).length, projects, { ...(clock as object), now: undefined }];
}

/** Runs in the stranger's page; what it could read, or why it could not. */
const attempts: Readonly<Record<string, (sim: string) => Promise<unknown>>> = {
  "a simple fetch": (sim) => fetch(`${sim}/__sim/info`).then((it) => it.text()),
  "a fetch with credentials": (sim) => fetch(`${sim}/__sim/events`, { credentials: "include" }).then((it) => it.text()),
  "a fetch that no one may read": (sim) => fetch(`${sim}/__sim/info`, { mode: "no-cors" }).then((it) => it.text()),
  "the page's code": (sim) => fetch(`${sim}/__sim/app.js`).then((it) => it.text()),
  "a simple post": (sim) =>
    fetch(`${sim}/__sim/reset`, { method: "POST", mode: "no-cors", body: "{}" }).then((it) => it.text()),
  "a post without a body": (sim) =>
    fetch(`${sim}/__sim/reset`, { method: "POST", mode: "no-cors" }).then((it) => it.text()),
  "a post of JSON": (sim) =>
    fetch(`${sim}/__sim/reset`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }).then(
      (it) => it.text(),
    ),
  "a delete": (sim) => fetch(`${sim}/__sim/events`, { method: "DELETE" }).then((it) => it.text()),
  "a put": (sim) =>
    fetch(`${sim}/__sim/clock`, { method: "PUT", body: '{"now":"1999-01-01"}' }).then((it) => it.text()),
  "a stolen token header": (sim) =>
    fetch(`${sim}/__sim/info`, { headers: { authorization: "Bearer x" } }).then((it) => it.text()),
  "a beacon": async (sim) => void navigator.sendBeacon(`${sim}/__sim/reset`, "{}"),
  "a websocket": (sim) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`${sim.replace("http", "ws")}/__sim/ws`);
      socket.onopen = () => socket.send('{"t":"hello","v":1}');
      socket.onmessage = ({ data }: Loose) => resolve(data);
      socket.onclose = () => reject(new TypeError("closed"));
    }),
  "an event stream": (sim) =>
    new Promise((resolve, reject) => {
      const source = new EventSource(`${sim}/__sim/events/stream`);
      source.onopen = () => resolve("open");
      source.onerror = () => reject(new TypeError("closed"));
    }),
  "an image": (sim) =>
    new Promise((resolve, reject) => {
      const image = new Image();
      image.onload = () => resolve("loaded");
      image.onerror = () => reject(new TypeError("not loaded"));
      image.src = `${sim}/__sim/requests.har`;
    }),
  "a script": (sim) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.onload = () => resolve("loaded");
      script.onerror = () => reject(new TypeError("not loaded"));
      script.src = `${sim}/__sim/app.js`;
      document.body.append(script);
    }),
  "a script of data": (sim) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.onload = () => resolve("loaded");
      script.onerror = () => reject(new TypeError("not loaded"));
      script.src = `${sim}/__sim/info`;
      document.body.append(script);
    }),
  "a module": (sim) =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.type = "module";
      script.onload = () => resolve("loaded");
      script.onerror = () => reject(new TypeError("not loaded"));
      script.src = `${sim}/__sim/app.js`;
      document.body.append(script);
    }),
};

/** Frames and forms take the page elsewhere: one page each. */
const embeddings: Readonly<Record<string, (sim: string) => void>> = {
  "a frame": (sim) => {
    const frame = document.createElement("iframe");
    frame.src = `${sim}/__sim/`;
    document.body.append(frame);
  },
  "a frame of data": (sim) => {
    const frame = document.createElement("iframe");
    frame.src = `${sim}/__sim/info`;
    document.body.append(frame);
  },
  "an object": (sim) => {
    const box = document.createElement("object");
    box.data = `${sim}/__sim/`;
    document.body.append(box);
  },
};

const encodings = ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"];

describe("another page of this machine", () => {
  let sim: Sim;
  let stranger: Stranger;
  let page: Page;
  let before: unknown;
  beforeAll(async () => {
    sim = await startSim();
    stranger = await openStranger();
    await fill(sim);
    before = await remains(sim);
    page = await (await stage.browser().newContext()).newPage();
  });
  // each attempt begins with the stranger's page anew
  beforeEach(() => page.goto(stranger.url));
  afterAll(async () => {
    await page?.context().close();
    await stranger?.[Symbol.asyncDispose]();
    await sim?.close();
  });

  test.each(Object.entries(attempts))("%s reads nothing and changes nothing", async (_, attempt) => {
    const read = await page.evaluate(attempt, sim.url).catch((error: unknown) => String(error));
    if (read !== undefined && read !== "") expect(read).toMatch(/TypeError/);
    expect(await remains(sim)).toEqual(before);
  });

  test.each(Object.entries(embeddings))("%s shows nothing", async (_, embed) => {
    await page.evaluate(embed, sim.url);
    await page.waitForLoadState("networkidle");
    const texts = await Promise.all(
      page
        .frames()
        .slice(1)
        .map((frame) => frame.evaluate(() => document.body.textContent ?? "").catch(() => "")),
    );
    expect(texts.join("")).not.toMatch(/Live|secret|phc_sim_default/);
    expect(await remains(sim)).toEqual(before);
  });

  test.each(encodings)("a form as %s is refused", async (encoding) => {
    const answered = page.waitForResponse((it) => it.url().includes("/__sim/"));
    await page.evaluate(
      ([url, enctype]) => {
        const form = document.createElement("form");
        form.method = "post";
        form.action = url;
        form.enctype = enctype;
        const field = document.createElement("input");
        field.name = '{"parts":["events"],"x":"';
        field.value = '"}';
        form.append(field);
        document.body.append(form);
        form.submit();
      },
      [`${sim.url}/__sim/reset`, encoding] as const,
    );
    expect((await answered).status()).toBe(403);
    await page.waitForURL(/reset$/);
    expect(await remains(sim)).toEqual(before);
  });

  test("a link to the page may be followed, but gives no hold on it", async () => {
    const [opened] = await Promise.all([
      page.context().waitForEvent("page"),
      page.evaluate((url) => void window.open(url, "victim"), `${sim.url}/__sim/`),
    ]);
    await opened.locator("[data-connection=live]").waitFor();
    expect(await opened.evaluate(() => window.opener)).toBe(null);
    await opened.close();
  });
});

test("a name that is bound to this machine anew reads nothing", async () => {
  await using sim = await startSim();
  await fill(sim);
  const page = await stage.browser().newPage();
  const origin = `http://evil.test:${new URL(sim.url).port}`;
  for (const path of ["/__sim/", "/__sim/app.js", "/__sim/info", "/__sim/events", "/__sim/requests.har"]) {
    const answer = await page.goto(origin + path);
    expect([path, answer?.status()]).toEqual([path, 403]);
  }
  // the ingestion side answers it: from there everything is of its own origin
  await page.goto(`${origin}/static/nothing`).catch(() => {});
  for (const [name, attempt] of Object.entries(attempts)) {
    const read = await page.evaluate(attempt, origin).catch((error: unknown) => String(error));
    if (typeof read === "string" && read !== "")
      expect([name, read]).toEqual([name, expect.stringMatching(/TypeError|forbidden_host/)]);
  }
  expect((await sim.events.list()).map(({ event }) => event)).toEqual(["secret"]);
});

/** What a proxy answers to a raw request. */
const raw = (sim: Sim, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(sim.url);
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => {
      answer += chunk;
      if (/^HTTP\/1.1 200.*\r\n\r\n$/s.test(answer) && text.startsWith("CONNECT")) {
        socket.write("GET /__sim/info HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
      }
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });

describe("through our own proxy", () => {
  let sim: Sim;
  beforeAll(async () => {
    sim = await startSim();
  });
  afterAll(() => sim?.close());

  test.each([
    ["its own address", (host: string) => `http://${host}/__sim/info`],
    ["localhost", (host: string) => `http://localhost:${host.split(":")[1]}/__sim/info`],
    ["a host of the service", () => "http://us.i.posthog.com/__sim/info"],
    ["the page", (host: string) => `http://${host}/__sim/`],
  ])("%s is refused", async (_, target) => {
    const { host } = new URL(sim.url);
    const answer = await raw(sim, `GET ${target(host)} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 403 /);
    expect(answer).not.toContain("phc_sim_default");
  });

  test.each([(host: string) => host, (host: string) => `localhost:${host.split(":")[1]}`])(
    "a tunnel to itself leads nowhere: %#",
    async (target) => {
      const at = target(new URL(sim.url).host);
      const answer = await raw(sim, `CONNECT ${at} HTTP/1.1\r\nHost: ${at}\r\n\r\n`);
      expect(answer).not.toContain("phc_sim_default");
      expect(answer).toMatch(/ (403|421) /);
    },
  );

  test("a browser that uses it does not get the page", async () => {
    const proxy = { server: sim.url, bypass: "<-loopback>" };
    const context = await stage.browser().newContext({ proxy });
    try {
      const page = await context.newPage();
      for (const url of [`${sim.url}/__sim/`, "http://us.i.posthog.com/__sim/"]) {
        expect((await page.goto(url))?.status()).toBe(403);
      }
    } finally {
      await context.close();
    }
  });
});

/** Tries in the page's own world; what they throw, or what came of them. */
const injections: Readonly<Record<string, (stranger: string) => unknown>> = {
  "markup by innerHTML": () => {
    document.body.innerHTML = "<img src=x onerror='globalThis.hacked = true'>";
  },
  "markup beside an element": () => {
    document.body.insertAdjacentHTML("beforeend", "<b>x</b>");
  },
  "a document that is written": () => {
    document.write("<b>x</b>");
  },
  "an inline script's text": () => {
    const script = document.createElement("script");
    script.textContent = "globalThis.hacked = true";
    document.body.append(script);
  },
  "a script's address": (stranger) => {
    const script = document.createElement("script");
    script.src = `${stranger}x.js`;
    document.body.append(script);
  },
  // later: what the test itself runs in the page may do more
  "a text that is run": () =>
    new Promise((resolve, reject) => {
      setTimeout(() => {
        try {
          resolve(globalThis.eval("globalThis.hacked = true"));
        } catch (error) {
          reject(error);
        }
      });
    }),
  "a function made of text": () =>
    new Promise((resolve, reject) => {
      setTimeout(() => {
        try {
          resolve(new Function("globalThis.hacked = true")());
        } catch (error) {
          reject(error);
        }
      });
    }),
  "a worker": (stranger) => new Worker(`${stranger}x.js`),
  "a policy of one's own": () => trustedTypes.createPolicy("mine", { createHTML: (it: Loose) => it }),
  "a fetch elsewhere": (stranger) => fetch(`${stranger}fetched`),
  "a websocket elsewhere": (stranger) =>
    new Promise((_, reject) => {
      new WebSocket(stranger.replace("http", "ws")).onerror = () => reject(new TypeError("closed"));
    }),
};

/** They throw nothing, but must do nothing either. */
const quietInjections: Readonly<Record<string, (stranger: string) => unknown>> = {
  "an inline script's node": () => {
    const script = document.createElement("script");
    script.append(document.createTextNode("globalThis.hacked = true"));
    document.body.append(script);
  },
  "an image of elsewhere": (stranger) => {
    const image = new Image();
    image.src = `${stranger}pixel`;
    document.body.append(image);
  },
  "a style of elsewhere": (stranger) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = `${stranger}style`;
    document.head.append(link);
  },
  "a frame of elsewhere": (stranger) => {
    const frame = document.createElement("iframe");
    frame.src = `${stranger}framed`;
    document.body.append(frame);
  },
  "a form to elsewhere": (stranger) => {
    const form = document.createElement("form");
    form.action = `${stranger}posted`;
    form.method = "post";
    document.body.append(form);
    form.submit();
  },
  "a script link": () => {
    const link = document.createElement("a");
    link.href = "javascript:globalThis.hacked = true";
    document.body.append(link);
    link.click();
  },
};

test("nothing that gets into the page runs or leaves it", async () => {
  await using stranger = await openStranger();
  await using it = await stage.open("", { allow: /Content Security Policy|Trusted|violates|Refused|blocked/i });
  for (const [name, inject] of Object.entries(injections)) {
    const outcome = await it.page.evaluate(inject, stranger.url).then(
      () => "done",
      () => "threw",
    );
    expect([name, outcome]).toEqual([name, "threw"]);
  }
  // as text: the test runner would make something of its own of this import
  const imported = it.page.evaluate(`import("${stranger.url}x.js")`);
  await expect(imported).rejects.toThrow(/import|fetch/i);
  for (const inject of Object.values(quietInjections)) {
    await it.page.evaluate(inject, stranger.url).catch(() => {});
  }
  await it.page.waitForLoadState("networkidle");
  expect(await it.page.evaluate(() => "hacked" in globalThis)).toBe(false);
  expect(stranger.asked).toEqual([]);
  expect(it.page.url()).toContain(it.sim.url);
});

const payloads = [
  "<img src=x onerror=globalThis.hacked=true>",
  "</script><script>globalThis.hacked=true</script>",
  "javascript:globalThis.hacked=true",
  '"><svg onload=globalThis.hacked=true>',
  "__proto__",
  "constructor",
  "\u202etxt.exe\u202c \u2066x\u2069",
  "\u001b[31mred\u001b]0;title\u0007",
  "{{7*7}} %s %n",
  "\u0000\u0001\uffff\ud800",
  "a".repeat(190),
];

/** Half of a pair has no form in an address. */
const inUrl = (text: string): string => encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ""));

/** As text, so that `__proto__` is a key of the JSON. */
const hostile = (token: string, text: string, i: number): string => {
  const value = JSON.stringify(text);
  const inner = `{${value}: ${value}, "__proto__": {"x": ${value}}, "constructor": ${value}, "list": [${value}]}`;
  return `{"api_key": ${JSON.stringify(token)}, "event": ${value}, "distinct_id": ${value}, "properties": {
    ${value}: ${inner}, "__proto__": ${inner}, "$current_url": ${value}, "$lib": ${value}, "$set": ${inner},
    "$groups": {"company": ${value}}, "$session_id": ${value}, "n": ${i}}}`;
};

async function plant(sim: Sim): Promise<void> {
  const json = { "content-type": "application/json" };
  for (const [i, text] of payloads.entries()) {
    const project = await sim.project({ name: `shop ${text}`.slice(0, 100) }).catch(() => undefined);
    const headers = { ...json, "user-agent": text.replace(/[^ -~]/g, "?"), referer: "javascript:alert(1)" };
    for (const key of [sim.apiKey, project?.apiKey ?? sim.apiKey]) {
      await fetch(`${sim.url}/i/v0/e/?x=${inUrl(text)}`, { method: "POST", headers, body: hostile(key, text, i) });
    }
    await fetch(`${sim.url}/${inUrl(text)}`, { method: "POST", headers, body: text });
    await fetch(`${sim.url}/flags/?v=2`, {
      method: "POST",
      headers,
      body: JSON.stringify({ api_key: sim.apiKey, distinct_id: text, person_properties: { [text]: text } }),
    });
    await fetch(`${sim.url}/api/projects/1/feature_flags/`, {
      method: "POST",
      headers: { ...json, authorization: `Bearer ${sim.personalApiKey}` },
      body: JSON.stringify({
        key: `flag-${i}`,
        name: text,
        filters: {
          groups: [{ properties: [{ key: text, value: [text], operator: "exact", type: "person" }] }],
          payloads: { true: JSON.stringify(text) },
        },
      }),
    });
    await fetch(`${sim.url}/api/projects/1/dashboards/`, {
      method: "POST",
      headers: { ...json, authorization: `Bearer ${sim.personalApiKey}` },
      body: JSON.stringify({ name: text, description: text }),
    });
  }
  const identify = { event: "$identify", distinct_id: payloads[0], properties: { $anon_distinct_id: payloads[3] } };
  await fetch(`${sim.url}/i/v0/e/`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ api_key: sim.apiKey, ...identify }),
  });
}

/** Elements that no view of ours makes, attributes that none sets, and characters that none shows as they are. */
const findTraces = (): string[] => {
  const alien = "img, iframe, object, embed, base, form[action], style, [onerror], [onload], [onclick], [srcdoc]";
  const elements = [...document.querySelectorAll(`body :is(${alien}), body script`)].map((it) => it.outerHTML);
  const links = [...document.querySelectorAll("a[href]")]
    .map((it) => it.getAttribute("href") ?? "")
    .filter((it) => !/^(#|https?:)/.test(it));
  const shown = document.body.innerText.match(/[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g) ?? [];
  return [...elements, ...links, ...shown.map((it: Loose) => `raw ${it.charCodeAt(0).toString(16)}`)];
};

test("hostile text in every field is text in every view", async () => {
  // a filter that is no filter is refused, and reported
  await using it = await stage.open("", { allow: /status of (400|404)/ });
  const { page, sim } = it;
  const reports: string[] = [];
  page.on("dialog", (dialog) => {
    reports.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.exposeFunction("report", (text: string) => reports.push(text));
  await page.evaluate(() => {
    document.addEventListener("securitypolicyviolation", (event: Loose) => {
      (globalThis as unknown as { report(text: string): void }).report(`csp ${event.violatedDirective}`);
    });
  });
  await plant(sim);
  const all = await sim.events.list();
  const places = [
    ...(await views()).map(({ id }) => `#/${id}`),
    ...all.slice(0, payloads.length).flatMap(({ seq }) => [`#/events/${seq}`]),
    ...["raw", "request", "person", "copy"].map((tab) => `#/events/${all[0]?.seq}?tab=${tab}`),
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `#/requests/${n}`),
    ...["flag-0", "flag-3"].map((key) => `#/flags/${key}`),
    `#/people?q=${inUrl(payloads[0] ?? "")}`,
    `#/events?f=${inUrl(payloads[0] ?? "")}`,
    `#/${inUrl(payloads[0] ?? "")}/${inUrl(payloads[1] ?? "")}`,
  ];
  const settled = settling(page);
  const traces: string[] = [];
  for (const place of places) {
    await it.go(place);
    await settled();
    traces.push(...(await page.evaluate(findTraces)).map((found) => `${place}: ${found}`));
    const row = page.locator("main [role=row][aria-selected]").first();
    if ((await row.count()) > 0 && !place.includes("/", 2)) {
      await row.click();
      await settled();
      traces.push(...(await page.evaluate(findTraces)).map((found) => `${place} row: ${found}`));
    }
    const broken = await page.getByText("This view failed").count();
    if (broken > 0) traces.push(`${place}: broke`);
  }
  expect([...new Set(traces)]).toEqual([]);
  expect(reports).toEqual([]);
  expect(await page.evaluate(() => ["hacked" in globalThis, "x" in {}])).toEqual([false, false]);
});

type Loose = any;
declare const document: Loose;
declare const window: Loose;
declare const Image: Loose;
declare const Worker: Loose;
declare const WebSocket: Loose;
declare const EventSource: Loose;
declare const navigator: Loose;
declare const trustedTypes: Loose;
