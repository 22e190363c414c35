import { isoOf } from "../../kernel/base/clock.ts";
import { headerIn } from "../../kernel/http/client-address.ts";
import { row } from "../../kernel/http/row.ts";
import { slice } from "../../kernel/http/slice.ts";
import { type Counter, countsOf, freshCount, oneByOne, type RowCount } from "./counting.ts";
import type { IndexedRequest, TrafficLog } from "./log/traffic-log.ts";
import { SdkQuery, type SdkTotal, SdkTotals } from "./sdk-shapes.ts";
import { showEvent } from "./show.ts";
import type { TrafficLine } from "./traffic.ts";

interface Sender {
  /** `posthog-js`, `curl`; `browser` for a page without an SDK that says so. */
  readonly name: string;
  readonly version: string | null;
  readonly isSdk: boolean;
}

const longest = 100;
const cut = (text: string): string => text.slice(0, longest);

/** Names that an SDK gives itself in `$lib`, where its package has another. */
const packages: Readonly<Record<string, string>> = { web: "posthog-js", js: "posthog-js-lite" };

const packageOf = (lib: string): string => (Object.hasOwn(packages, lib) ? (packages[lib] ?? lib) : cut(lib));

const product = /^([\w.@/-]+?)\/([\w.+-]+)/;
const isOfPostHog = (name: string): boolean => /posthog/i.test(name);

function senderIn(text: string | undefined): Sender | undefined {
  const [, name, version] = product.exec(text ?? "") ?? [];
  if (name === undefined || version === undefined) return undefined;
  return { name: cut(name), version: cut(version), isSdk: isOfPostHog(name) };
}

const versionIn = (target: string): string | undefined => /[?&]ver=([\w.+-]{1,40})/.exec(target)?.[1];

const unknown: Sender = { name: "unknown", version: null, isSdk: false };

function senderInHeaders({ headers, target }: TrafficLine): Sender {
  const agent = headerIn(headers, "user-agent");
  const sdk = senderIn(headerIn(headers, "posthog-sdk-info"));
  if (sdk) return { ...sdk, isSdk: true };
  if (agent?.startsWith("Mozilla/") !== true) return senderIn(agent) ?? unknown;
  const version = versionIn(target);
  if (version !== undefined) return { name: "posthog-js", version, isSdk: true };
  return { name: "browser", version: null, isSdk: false };
}

export function senderOf(line: TrafficLine): Sender {
  const properties = line.events && line.events.length > 0 ? showEvent(line, 0).properties : {};
  const { $lib: lib, $lib_version: version } = properties;
  if (typeof lib !== "string" || lib.trim() === "") return senderInHeaders(line);
  const known = typeof version === "string" ? cut(version) : versionIn(line.target);
  return { name: packageOf(lib), version: known ?? null, isSdk: true };
}

const decideTarget = /^\/+decide\/*(?:\?|$)/;

export const asksDecide = ({ method, target }: Pick<TrafficLine, "method" | "target">): boolean =>
  method === "POST" && decideTarget.test(target);

/** First versions that ask `/flags`, of SDKs that asked `/decide` before. */
const flagsSince: Readonly<Record<string, string>> = {
  "posthog-js": "1.300",
  "posthog-node": "4.18",
  "posthog-python": "6.0",
};

/** What to know of a sender, as a sentence without the final stop; nothing if it is up to date. */
export function hintsFor({ name, version }: Sender, hasAskedDecide: boolean): string[] {
  if (!hasAskedDecide) return [];
  const since = Object.hasOwn(flagsSince, name) ? flagsSince[name] : undefined;
  const who = version === null ? name : `${name} ${version}`;
  const later = since === undefined ? "current versions ask `/flags`" : `from ${since} on it asks \`/flags\``;
  return [`${who} asks \`/decide\`; ${later}`];
}

const mostCounts = 8;
/** The most senders that are counted: a version may be anything. */
const mostSenders = 1_000;
const mostListed = 50;

interface Sum {
  readonly sender: Sender;
  requests: number;
  rejected: number;
  kept: number;
  dropped: number;
  last: number;
  at: number;
  hasAskedDecide: boolean;
}

interface SdkCount extends RowCount {
  readonly sums: Map<string, Sum>;
  isCut: boolean;
}

function sumOf(count: SdkCount, sender: Sender): Sum | undefined {
  const key = `${sender.isSdk} ${sender.name} ${sender.version}`;
  const known = count.sums.get(key);
  if (known) return known;
  if (count.sums.size >= mostSenders) {
    count.isCut = true;
    return undefined;
  }
  const numbers = { requests: 0, rejected: 0, kept: 0, dropped: 0, last: 0, at: 0 };
  const made: Sum = { sender, ...numbers, hasAskedDecide: false };
  count.sums.set(key, made);
  return made;
}

function addLine(count: SdkCount, line: TrafficLine, log: TrafficLog): void {
  const sum = sumOf(count, senderOf(line));
  if (!sum) return;
  sum.requests++;
  if (line.rejected) sum.rejected++;
  const { seq = 0, events = [] } = line;
  // the line has cleared events as well; the index knows which
  log.eachEvent(seq, seq + events.length - 1, {}, ({ isDropped }) => {
    if (isDropped) sum.dropped++;
    else sum.kept++;
  });
  if (line.n > sum.last) [sum.last, sum.at] = [line.n, line.at];
  if (asksDecide(line)) sum.hasAskedDecide = true;
}

const counterOf = (log: TrafficLog, project: number | undefined): Counter<SdkCount> => ({
  first: () => log.firstRequest,
  last: () => log.lastRequest,
  *range(count, from, to, isDown) {
    const within = project === undefined ? {} : { project };
    for (const { n } of oneByOne<IndexedRequest>((use) => log.eachRequest(from, to, within, use), isDown)) {
      const line = yield* log.reading(n);
      if (line) addLine(count, line, log);
      else count.isPart = true;
      yield n;
    }
  },
});

/** Other clients read the control and management APIs as well: they count where they sent something. */
const isListed = ({ sender, kept, dropped, rejected }: Sum): boolean => sender.isSdk || kept + dropped + rejected > 0;

const byEvents = (a: Sum, b: Sum): number => b.kept + b.dropped - (a.kept + a.dropped) || b.last - a.last;

const shown = ({ sender, at, hasAskedDecide, ...sum }: Sum): SdkTotal => ({
  name: sender.name,
  version: sender.version,
  is_sdk: sender.isSdk,
  requests: sum.requests,
  rejected: sum.rejected,
  kept: sum.kept,
  dropped: sum.dropped,
  last: sum.last,
  last_at: isoOf(at),
  hints: hintsFor(sender, hasAskedDecide),
});

/** The endpoint of the SDKs that sent something. The lines are read on request, so captures do not pay for it. */
export const senderSlice = slice(["log"], ({ log }: { readonly log: TrafficLog }) => {
  const counts = countsOf<SdkCount>(log, mostCounts);
  return [
    row({
      method: "GET",
      path: "/__sim/sdks",
      access: "control",
      summary: "Lists the SDKs and other clients that sent events, with their versions and what was lost",
      query: SdkQuery,
      reply: SdkTotals,
      async handle({ query: { project } }) {
        const { count, progress } = await counts.get(String(project ?? ""), () => ({
          counter: counterOf(log, project),
          count: { ...freshCount(log.lastRequest), sums: new Map(), isCut: false },
        }));
        const all = [...count.sums.values()].filter(isListed).sort(byEvents);
        return {
          ...progress,
          complete: progress.complete && !count.isCut,
          sdks: all.slice(0, mostListed).map(shown),
          more: Math.max(0, all.length - mostListed),
        };
      },
    }),
  ];
});
