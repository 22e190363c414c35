import { SimError } from "../../kernel/base/errors.ts";
import { byLevel } from "../../kernel/command/finding.ts";
import { credentialPlace } from "../../kernel/http/closed-hosts.ts";
import { hostRuleFor, placeOf, readHostRule, serviceHosts } from "../../kernel/http/host-rules.ts";
import { codeRow, type ProxyCode } from "./codes.ts";
import { differencesOf, type ProbeExchange, type ProxyDifference, type ProxyPlace } from "./compare.ts";
import { createReception, type ProxyAnswer, type ProxyOutcome, type Reception, sendToProxy } from "./exchange.ts";
import { frameworksIn, type ProxyFramework } from "./frameworks.ts";
import type { ProbeDesk } from "./probe-desk.ts";
import { newNonce, type Probe, probesOf } from "./probes.ts";
import type { ProxyCheck, ProxyFinding, ProxyReport } from "./shapes.ts";

export interface ProxyPorts {
  readonly probes: ProbeDesk;
  readonly recordings: { readonly isOn: boolean };
  readonly address: () => { readonly url: string };
  readonly closing: AbortSignal;
}

const service = serviceHosts.map(readHostRule);

/** The address of a proxy that may be checked. @throws SimError */
function proxyUrl(text: string, simUrl: string): URL {
  const mistake = (detail: string, hint: string) =>
    new SimError("invalid_input", detail, { pointer: "/through", hint });
  const example = "give the address of your proxy, such as http://localhost:3000/ingest";
  const full = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw mistake(`"through" is not an http address: ${text}`, example);
  if (url.username || url.password || url.search || url.hash)
    throw mistake('"through" must have no user, query or fragment', example);
  if (hostRuleFor(service, placeOf(url)))
    throw mistake(`"through" names the real service (${url.hostname}): phx-sim sends nothing there`, example);
  const place = credentialPlace(url.hostname);
  if (place !== undefined) throw mistake(`"through" is ${place}: phx-sim sends nothing there`, example);
  if (url.origin === new URL(simUrl).origin) throw mistake('"through" is the address of the sim itself', example);
  url.pathname = url.pathname.replace(/\/+$/, "");
  return url;
}

/** Probes that carry no event, and one that shows whether events may be sent. */
const scouts = ["config", "config.js", "array.js", "recorder", "surveys", "preflight", "event"];

/** Answers that say that requests go elsewhere: nothing more is sent. */
const elsewhere: readonly ProxyCode[] = ["real_service", "other_sim", "unreachable"];

/** Sends the probes in their order, and stops early where nothing arrives, or the time is over. */
class ProxyRun {
  readonly exchanges: ProbeExchange[] = [];
  readonly differences = new Map<Probe, readonly ProxyDifference[]>();
  readonly notSent: string[] = [];
  #silent = 0;
  readonly #place: ProxyPlace;
  readonly #url: URL;
  readonly #reception: Reception;
  readonly #send: (url: URL, probe: Probe) => Promise<ProxyOutcome>;

  constructor(url: URL, reception: Reception, send: (url: URL, probe: Probe) => Promise<ProxyOutcome>) {
    this.#url = url;
    this.#reception = reception;
    this.#send = send;
    this.#place = { prefix: url.pathname === "/" ? "" : url.pathname, host: url.host };
  }

  async run(probes: Iterable<Probe>): Promise<void> {
    for (const probe of probes) {
      if (this.#isOver(probe)) this.notSent.push(probe.name);
      else await this.#exchange(probe);
    }
  }

  #isOver({ name, method }: Probe): boolean {
    if (this.#silent >= 2 || this.#isSilentAtFirst || this.#has("unreachable")) return true;
    const arrived = this.exchanges.filter((it) => it.arrivals.length > 0);
    const posts = this.exchanges.filter((it) => it.probe.method === "POST");
    if (method === "POST" && posts.some((it) => this.#codesOf(it.probe).some((code) => elsewhere.includes(code))))
      return true;
    if (method === "POST" && arrived.length === 0 && elsewhere.some((code) => this.#has(code))) return true;
    return arrived.length === 0 && !scouts.includes(name);
  }

  get #isSilentAtFirst(): boolean {
    return this.exchanges[0]?.outcome.kind === "silent";
  }

  #has(code: ProxyCode): boolean {
    return [...this.differences.values()].some((found) => found.some((it) => it.code === code));
  }

  #codesOf(probe: Probe): ProxyCode[] {
    return (this.differences.get(probe) ?? []).map(({ code }) => code);
  }

  async #exchange(probe: Probe): Promise<void> {
    this.#reception.expect(probe);
    const target = new URL(this.#place.prefix + probe.target, this.#url);
    const outcome = await this.#send(target, probe);
    if (outcome.kind === "silent") this.#silent += 1;
    const exchange = { probe, outcome, arrivals: this.#reception.arrivals(probe) };
    const found = differencesOf(exchange, this.#place, this.exchanges);
    const isCircle = found.some(({ code }) => isRedirectCode(code)) && (await this.#isCircle(probe, target));
    this.differences.set(
      probe,
      isCircle ? [{ code: "redirect_loop", detail: `${probe.target} leads back to itself` }] : found,
    );
    this.exchanges.push(exchange);
  }

  /** Follows redirects of a GET on the proxy's own host until an address comes again. */
  async #isCircle(probe: Probe, from: URL): Promise<boolean> {
    if (probe.method !== "GET") return false;
    const seen = new Set<string>();
    for (let at = from; seen.size < 10; ) {
      if (seen.has(at.href)) return true;
      seen.add(at.href);
      const outcome = await this.#send(at, probe);
      const to = outcome.kind === "answer" ? outcome.answer.headers.location : undefined;
      if (to === undefined || !URL.canParse(to, at.href)) return false;
      at = new URL(to, at.href);
      if (at.host !== from.host) return false;
    }
    return true;
  }
}

const isRedirectCode = (code: ProxyCode): boolean =>
  code === "redirected" || code === "redirect_slash" || code === "login";

/** Sends what SDKs send through a proxy whose upstream is this sim, and compares it with what arrives. @throws SimError */
export async function checkProxy(ports: ProxyPorts, order: ProxyCheck): Promise<ProxyReport> {
  const sim = ports.address().url;
  const url = proxyUrl(order.through, sim);
  if (ports.recordings.isOn)
    throw new SimError(
      "conflict",
      "the sim passes requests on to an upstream while it records: probes would reach it",
      { hint: "stop the recording, or check the proxy with another sim" },
    );
  const nonce = newNonce();
  const reception = createReception(nonce);
  const close = ports.probes.open(reception.take);
  const send = (to: URL, probe: Probe) => sendToProxy(to, probe, limitOf(order, run), ports.closing);
  const run: ProxyRun = new ProxyRun(url, reception, send);
  try {
    await run.run(probesOf(nonce, order.origin ?? foreignOrigin));
    const page = run.exchanges.some(({ outcome }) => outcome.kind === "answer")
      ? await pageOf(url, order.timeout_ms, ports.closing)
      : [];
    return reportOf(order, sim, url, run, page);
  } finally {
    close();
  }
}

/** Development servers compile on the first request: it may take as many times as long. */
const firstTimes = 6;

const limitOf = ({ timeout_ms: ms }: ProxyCheck, { exchanges }: ProxyRun): number =>
  exchanges.length === 0 ? ms * firstTimes : ms;

/** A page on another port of this machine. */
const foreignOrigin = "http://localhost:1";

/** The app's own page, which shows what it is made with; behind redirects on its host. */
async function pageOf(url: URL, timeoutMs: number, signal: AbortSignal): Promise<ProxyAnswer[]> {
  const headers = { accept: "text/html", "user-agent": "phx-sim-probe" };
  const request = { method: "GET", headers, body: Buffer.alloc(0), isChunked: false };
  const found: ProxyAnswer[] = [];
  for (let at = new URL("/", url); found.length < 3; ) {
    const outcome = await sendToProxy(at, request, timeoutMs * 2, signal);
    if (outcome.kind !== "answer") return found;
    found.push(outcome.answer);
    const to = outcome.answer.headers.location;
    if (to === undefined || !URL.canParse(to, at.href)) return found;
    at = new URL(to, at.href);
    if (at.host !== url.host) return found;
  }
  return found;
}

/** What another finding explains: it is the cause, and this one follows from it. */
const explained: Partial<Record<ProxyCode, readonly ProxyCode[]>> = {
  content_encoding: ["body_decompressed"],
  redirected: ["redirect_loop"],
  redirect_slash: ["redirect_loop"],
  swallowed: ["answer_cached"],
};

function reportOf(order: ProxyCheck, sim: string, url: URL, run: ProxyRun, page: readonly ProxyAnswer[]): ProxyReport {
  const answers = run.exchanges.flatMap(({ outcome }) => (outcome.kind === "answer" ? [outcome.answer] : []));
  const found = frameworksIn([...answers, ...page]);
  const hint = order.framework;
  const frameworks = hint === undefined || found.includes(hint) ? found : [...found, hint];
  const byCode = new Map<ProxyCode, { requests: string[]; detail: string }>();
  for (const [probe, differences] of run.differences) {
    for (const { code, detail } of differences) {
      const entry = byCode.get(code) ?? { requests: [], detail };
      entry.requests.push(probe.name);
      byCode.set(code, entry);
    }
  }
  const findings = [...byCode]
    .filter(([code]) => !explained[code]?.some((it) => byCode.has(it)))
    .map(([code, { requests, detail }]): ProxyFinding => {
      const { what, cause, fix } = codeRow(code);
      const level = code === "cors" && order.origin !== undefined ? "problem" : codeRow(code).level;
      return { code, level, what, requests, detail, cause, fix: fixFor(fix, frameworks, url, sim) };
    })
    .sort((a, b) => byLevel(a.level, b.level));
  return {
    url: url.href,
    sim,
    passed: findings.every(({ level }) => level !== "problem"),
    frameworks,
    requests: run.exchanges.map(({ probe, outcome, arrivals }) => ({
      name: probe.name,
      request: `${probe.method} ${probe.target}`,
      status: outcome.kind === "answer" ? outcome.answer.status : null,
      arrived: arrivals.length > 0,
      codes: (run.differences.get(probe) ?? []).map(({ code }) => code),
    })),
    not_sent: run.notSent,
    findings,
  };
}

/** The fix of the first framework that has one, with the proxy's own prefix. */
function fixFor(
  fix: { readonly other: string } & { readonly [Name in ProxyFramework]?: string },
  frameworks: readonly ProxyFramework[],
  { pathname }: URL,
  sim: string,
): string {
  const own = frameworks.map((it) => fix[it]).find((it) => it !== undefined) ?? fix.other;
  const prefix = pathname.slice(1);
  const named = /^[\w-]+$/.test(prefix) ? own.replaceAll("ingest", prefix) : own;
  return named.replaceAll("the address of the sim", sim);
}
