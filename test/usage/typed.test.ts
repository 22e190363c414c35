import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { connectSim, type Scenario, type Sim, startSim } from "../../src/index.ts";
import { element, opening, sendPart, session } from "../lab/sessions/recorded.ts";
import { chromiumEnv } from "../support/chromium.ts";
import { root } from "../support/docs.ts";
import { newFolder } from "../support/folder.ts";
import { type TypedCommand, typedCommands } from "../support/typed-commands.ts";
import { type Given, pages } from "./typed/expected.ts";
import { openTerminal, type Terminal } from "./typed/session.ts";

/** The folder that has the packed package installed; readers work in folders below it. */
let place: string;
/** What stands for the real service. */
let service: Sim;

const serviceScenario: Scenario = {
  version: 1,
  organizations: [
    {
      name: "Live",
      projects: [
        {
          id: 12345,
          name: "Shop",
          api_key: "phc_live",
          flags: { "new-checkout": { variants: { control: 50, test: 50 } } },
        },
      ],
    },
  ],
  personal_api_keys: [{ key: "phx_live", scopes: ["*"] }],
};

/** Variables of the surroundings that change what commands do. */
const foreign = /^(?:npm_|PHX_|POSTHOG|CI$|NO_COLOR|FORCE_COLOR|NODE_|VITEST|GITHUB_|INIT_CWD)/;

const envWith = (more: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name))),
  PATH: `${join(place, "node_modules/.bin")}:${process.env.PATH}`,
  npm_config_offline: "true",
  npm_config_update_notifier: "false",
  ...more,
});

beforeAll(async () => {
  place = newFolder();
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", place];
  const [{ filename }] = JSON.parse(execFileSync("npm", pack, { cwd: root, encoding: "utf8" }));
  writeFileSync(join(place, "package.json"), '{ "private": true }');
  const install = ["install", "--no-audit", "--no-fund", join(place, filename)];
  execFileSync("npm", install, { cwd: place, env: envWith({}) });
  service = await startSim({ scenario: serviceScenario, dialect: "production" });
});
afterAll(() => service.close());

/** Ports that nothing listens on, all different. */
async function freePorts(count: number): Promise<string[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((it) => (it.address() as { port: number }).port);
  await Promise.all(servers.map((it) => new Promise((resolve) => it.close(resolve))));
  return ports.map(String);
}

/** It runs until it is interrupted. */
const serves = (text: string): boolean =>
  !text.includes(" -- ") && /^(?:npx )?phx-sim(?:$| --| start\b| record\b| replay\b| events tail)/.test(text);

const isTail = (text: string): boolean => /events tail|curl -N/.test(text);

interface Reader {
  readonly terminal: Terminal;
  /** The process id of its sim, if one runs. */
  readonly sim: string | undefined;
  readonly url: string;
  /** A command with the addresses of this test in place of those of the page. */
  here(text: string): string;
}

async function readerWith(given: readonly Given[]): Promise<Reader> {
  const cwd = mkdtempSync(join(place, "reader-"));
  const home = mkdtempSync(join(place, "home-"));
  if (given.includes("app")) cpSync(join(import.meta.dirname, "typed/app"), cwd, { recursive: true });
  const [port = "", appPort = ""] = await freePorts(2);
  const url = `http://127.0.0.1:${port}`;
  const env = envWith({
    HOME: home,
    PHX_SIM_PORT: port,
    GITHUB_ENV: join(home, "github-env"),
    ...(given.includes("chromium") ? await chromiumEnv() : {}),
  });
  const terminal = openTerminal(cwd, env);
  onTestFinished(() => terminal.close());
  const upstream = /(--upstream|--against) (?:us|eu|https:\/\/posthog\.example\.com)\b/g;
  const here = (text: string) =>
    text
      .replaceAll("7490", port)
      .replaceAll("localhost:3000", `localhost:${appPort}`)
      .replaceAll(upstream, `$1 ${service.url}`)
      .replace("POSTHOG_PERSONAL_API_KEY=…", "POSTHOG_PERSONAL_API_KEY=phx_live")
      .replace("phc_…", "phc_live")
      .replace("SESSION", session)
      .replace("script RUN", "script 0195a000-0000-7000-8000-000000000001")
      .replace("show RUN", "show 0195a000-0000-7000-8000-000000000001");
  let sim: string | undefined;
  if (given.includes("tapes")) {
    const record = here("phx-sim record --upstream us --tape monday -- npm test");
    await terminal.run(
      `export POSTHOG_API_KEY=phc_live; ${record}; phx-sim tape export monday --out session.har`,
    );
    await terminal.run(
      "for it in tuesday golden today checkout signup; do cp tapes/monday.tape.ndjson tapes/$it.tape.ndjson; done",
    );
  }
  if (given.includes("sim")) {
    sim = await terminal.serve("phx-sim start --scenario scenario.yaml", /ready at/);
    await fill(url);
  }
  if (given.includes("address")) await terminal.run(`export PHX_SIM_URL=${url}`);
  if (given.includes("running")) await terminal.serve(`PORT=${appPort} node server.mjs`, /ready at/);
  if (given.includes("proxied")) {
    await terminal.serve(`PORT=${appPort} POSTHOG_HOST=${url} node server.mjs`, /ready at/);
  }
  if (given.includes("key")) await terminal.run("export POSTHOG_PERSONAL_API_KEY=phx_live");
  if (given.includes("twin")) await terminal.run(here("phx-sim pull --upstream us --project 12345"));
  if (given.includes("plan")) await terminal.run("phx-sim plan infer --out events.plan.json");
  if (given.includes("report"))
    await terminal.run("phx-sim exec --report phx-report -- npm test; cp -r phx-report report");
  if (given.includes("baseline")) {
    await terminal.run(
      "phx-sim baseline update --report phx-report -- npm test; cp analytics.baseline.ndjson main.ndjson",
    );
    await terminal.run(
      "git init -q -b main; git add analytics.baseline.ndjson; git -c user.name=a -c user.email=a@example.test commit -qm a",
    );
  }
  return { terminal, url, here, sim };
}

/** Captures an event, and returns true. */
const signUp = async (url: string): Promise<boolean> => {
  const event = { event: "signed_up", distinct_id: "user-2", properties: { amount: 20 } };
  return (
    await fetch(`${url}/i/v0/e/`, {
      method: "POST",
      body: JSON.stringify({ api_key: "phc_sim_default", ...event }),
    })
  ).ok;
};

/** What the examples of the client commands name; the events of the app's tests are among it. */
async function fill(url: string): Promise<void> {
  await using sim = await connectSim(url);
  const capture = (event: object) =>
    fetch(`${url}/i/v0/e/`, { method: "POST", body: JSON.stringify({ api_key: sim.apiKey, ...event }) });
  const sent = {
    signed_up: { plan: "pro", amount: 12 },
    order_completed: { amount: 20 },
    login: { card: "none" },
    paid: { card: "none" },
    signup: { amount: 11 },
    $groupidentify: { $group_type: "company", $group_key: "acme", $group_set: { name: "Acme" } },
  };
  for (const [event, properties] of Object.entries(sent))
    await capture({ event, properties, distinct_id: "user-1" });
  await capture({ event: "checkout" });
  await sendPart({ apiKey: sim.apiKey, url, handle: fetch }, opening(element("body", {}, "Pay")));
}

const isWhole = process.env.TYPED === "all";

/** Runs a page's commands as its reader would; what is not as the page says. */
async function read(page: string, typed: readonly TypedCommand[]): Promise<string[]> {
  const { given = [], commands: expected = {} } = pages[page] ?? {};
  const { terminal, url, here, sim } = await readerWith(given);
  const faults: string[] = [];
  const running = new Set(sim === undefined ? [] : [sim]);
  const stop = async (...kept: (string | undefined)[]) => {
    for (const pid of [...running].filter((it) => !kept.includes(it))) {
      expect(await terminal.interrupt(pid)).toBe("130");
      running.delete(pid);
    }
  };
  const tail = async (text: string) => {
    let isShown = false;
    const shown = terminal.serve(text, /signed_up/).then(() => {
      isShown = true;
    });
    await expect.poll(async () => isShown || !(await signUp(url))).toBe(true);
    await shown;
  };
  for (const { page: own, line, text } of typed) {
    // What an example before it has removed.
    if (own !== page && line === 1) await fill(url);
    // The examples of a help text are read one by one.
    if (own.endsWith("--help")) await stop(sim);
    const { code: wanted = 0, prints = /^/, not } = expected[text] ?? {};
    if (not !== undefined) continue;
    if (isTail(text)) await tail(here(text));
    else if (serves(text)) {
      await stop();
      running.add(await terminal.serve(here(text).replace(/ &$/, ""), /(?:ready|records) at|"url":/));
    } else {
      const { code, output } = await terminal.run(here(text));
      if (code !== wanted || !prints.test(output))
        faults.push(`${own}:${line} ${text}: ${code}
${output}`);
      if (text.endsWith('>> "$GITHUB_ENV"')) await terminal.run('set -a; . "$GITHUB_ENV"; set +a');
    }
  }
  await stop(sim);
  return faults;
}

/** The help texts of the commands that use a running sim are read as one page. */
const pageOf = ({ page }: TypedCommand): string => {
  const asked = /^phx-sim (.*) --help$/.exec(page)?.[1];
  const isClient = commands.some(({ name, options }) => name === asked && "url" in options);
  return isClient &&
    !/^(?:stop|status|env|init|doctor|mcp|completion|events clear|generate)$/.test(asked ?? "")
    ? "client commands"
    : page;
};

const byPage = new Map<string, TypedCommand[]>();
for (const it of typedCommands()) byPage.set(pageOf(it), [...(byPage.get(pageOf(it)) ?? []), it]);

const golden = join(root, "test/golden/typed-commands.txt");

/** Every command that is run. */
const listed = [...byPage]
  .flatMap(([group, typed]) =>
    typed
      .filter(({ text }) => pages[group]?.commands?.[text]?.not === undefined)
      .map(({ page, text }) => `${page}: ${text}\n`),
  )
  .join("");

test("every command is run by npm run check:typed, or excepted with the reason", () => {
  if (process.env.UPDATE_GOLDEN && isWhole) writeFileSync(golden, listed);
  expect(listed, "run `UPDATE_GOLDEN=1 npm run check:typed`, and fix what it finds").toBe(
    readFileSync(golden, "utf8"),
  );
});

test("what is expected, or not run, is there", () => {
  const unknown = Object.entries(pages).flatMap(([page, { commands: expected = {} }]) => {
    const texts = byPage.get(page)?.map(({ text }) => text) ?? [];
    const missing = Object.keys(expected).filter((it) => !texts.includes(it));
    return texts.length === 0 ? [page] : missing.map((it) => `${page}: ${it}`);
  });
  expect(unknown).toEqual([]);
});

/** All pages take minutes. */
describe("the commands of", () => {
  const wanted = [...byPage].filter(([page]) => isWhole || page === "README.md");
  test.each(wanted)("%s", { timeout: 600_000 }, async (page, typed) => {
    expect(await read(page, typed)).toEqual([]);
  });
});
