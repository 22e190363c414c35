import type { BrowserContext, Frame, Page } from "@playwright/test";
import { performance } from "../../kernel/base/real-time.ts";
import { nameTest } from "../../kernel/base/wildcard.ts";
import { checkOptions, keysOf } from "../../kernel/call/option-keys.ts";
import { called } from "../../lab/assert/client-pattern.ts";
import { suiteWait } from "../../lab/assert/limits.ts";
import { describePattern } from "../../lab/assert/match/describe.ts";
import { quoted } from "../../lab/assert/match/printable.ts";
import type { RunnerState } from "../matchers/matcher.ts";

/** A page, whose frames and context are examined, or a context with all its pages. */
export type StorageOwner = Page | BrowserContext;

interface StoredOptions {
  /** How long to wait, ms. Default 4,000. */
  timeoutMs?: number;
}

/** The matcher of `expect(page)` and `expect(context)`. */
export interface StorageMatchers<R> {
  /**
   * PostHog's entries in cookies, localStorage and sessionStorage are these, and no others: names in which `*` stands
   * for any characters, or regular expressions, each with at least one entry. `[]`: there is none.
   */
  toHaveStored(names: readonly (string | RegExp)[], options?: StoredOptions): R;
}

interface Entry {
  readonly where: string;
  readonly name: string;
}

/** Names of entries that PostHog's SDK writes; `dmn_chk_` finds the domain for its cookies. */
const ownNames = /^_{0,2}ph_|posthog|^dmn_chk_/i;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isPage = (value: unknown): value is Page => isObject(value) && "frames" in value && "context" in value;
const isContext = (value: unknown): value is BrowserContext =>
  isObject(value) && "cookies" in value && "pages" in value;

/** The names in both storages of the page that this is called in; none where storage is not allowed. */
function storageNames(): { where: string; name: string }[] {
  const page = globalThis as unknown as Record<"localStorage" | "sessionStorage", object> & {
    location: { origin: string };
  };
  const names = (where: "localStorage" | "sessionStorage") => {
    try {
      return Object.keys(page[where]).map((name) => ({ where: `${where} of ${page.location.origin}`, name }));
    } catch {
      return [];
    }
  };
  return [...names("localStorage"), ...names("sessionStorage")];
}

const inFrame = (frame: Frame): Promise<Entry[]> => frame.evaluate(storageNames).catch(() => []);

/** localStorage of every origin of the context, also those that no page shows. */
async function ofOrigins(context: BrowserContext): Promise<Entry[]> {
  const { origins } = await context.storageState();
  return origins.flatMap(({ origin, localStorage }) =>
    localStorage.map(({ name }) => ({ where: `localStorage of ${origin}`, name })),
  );
}

async function entriesOf(owner: StorageOwner): Promise<Entry[]> {
  const context = isPage(owner) ? owner.context() : owner;
  const pages = isPage(owner) ? [owner] : owner.pages();
  const cookies = (await context.cookies()).map(({ name, domain }) => ({ where: `cookie of ${domain}`, name }));
  const stored = await Promise.all(pages.flatMap((page) => page.frames().map(inFrame)));
  const all = [...cookies, ...stored.flat(), ...(isPage(owner) ? [] : await ofOrigins(context))];
  const once = new Map(all.filter(({ name }) => ownNames.test(name)).map((it) => [`${it.where}\n${it.name}`, it]));
  return [...once.values()];
}

function testOf(name: string | RegExp): (text: string) => boolean {
  if (typeof name === "string") return nameTest(name);
  const pattern = new RegExp(name.source, name.flags.replace(/[gy]/g, ""));
  return (text) => pattern.test(text);
}

interface Seen {
  readonly entries: readonly Entry[];
  readonly unexpected: readonly Entry[];
  readonly missing: readonly (string | RegExp)[];
}

async function look(owner: StorageOwner, names: readonly (string | RegExp)[]): Promise<Seen> {
  const entries = await entriesOf(owner);
  const tests = names.map(testOf);
  return {
    entries,
    unexpected: entries.filter(({ name }) => !tests.some((it) => it(name))),
    missing: names.filter((_, i) => !entries.some(({ name }) => tests[i]?.(name))),
  };
}

const holds = ({ unexpected, missing }: Seen): boolean => unexpected.length + missing.length === 0;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const between = 100;
/** What is found must still be so after this time: an SDK starts after the page has loaded. */
const settleMs = 250;

/** The state as soon as it holds (with `.not`: does not hold) and stays so, at the latest after the wait. */
async function settled(
  owner: StorageOwner,
  names: readonly (string | RegExp)[],
  { isNot, timeoutMs = suiteWait() }: StoredOptions & { isNot: boolean },
): Promise<Seen> {
  const end = performance.now() + timeoutMs;
  for (let since: number | undefined; ; ) {
    const seen = await look(owner, names);
    const now = performance.now();
    since = holds(seen) === isNot ? undefined : (since ?? now);
    if (since !== undefined && now - since >= settleMs) return seen;
    if (since === undefined && now >= end) return seen;
    await pause(between);
  }
}

const entryLine = ({ where, name }: Entry): string => `  ${quoted(name)} in ${where}`;

function textOf(title: string, { entries, unexpected, missing }: Seen): string {
  const lines = [
    ...(unexpected.length > 0 ? ["stored, but not expected:", ...unexpected.map(entryLine)] : []),
    ...missing.map((name) => `not stored: ${describePattern(name)}`),
    ...(entries.length === 0 ? ["PostHog has stored nothing"] : []),
    ...(entries.length > unexpected.length ? ["all that PostHog has stored:", ...entries.map(entryLine)] : []),
  ];
  return [title, "", ...lines].join("\n");
}

const optionKeys = { 1: keysOf<StoredOptions>({ timeoutMs: true }) };

async function toHaveStored(
  this: RunnerState | undefined,
  owner: StorageOwner,
  names: readonly (string | RegExp)[],
  options: StoredOptions = {},
): Promise<{ pass: boolean; message: () => string }> {
  const isNot = this?.isNot === true;
  const title = called(isNot ? "not.toHaveStored" : "toHaveStored", names);
  if (!isPage(owner) && !isContext(owner))
    throw new TypeError(
      `${title}: expect() needs a page or a context of Playwright, not ${describePattern(owner, 60)}`,
    );
  if (!Array.isArray(names) || !names.every((it) => typeof it === "string" || it instanceof RegExp))
    throw new TypeError(`${title}: give a list of names and regular expressions; [] for none`);
  const other = names.find((it) => typeof it === "string" && !it.includes("*") && !ownNames.test(it));
  if (other !== undefined)
    throw new TypeError(
      `${title}: ${describePattern(other)} is no entry of PostHog: only names that start with ph_ or __ph_, or contain "posthog", are examined`,
    );
  checkOptions("toHaveStored", optionKeys, [names, options], toHaveStored);
  const seen = await settled(owner, names, { ...options, isNot });
  return { pass: holds(seen), message: () => textOf(title, seen) };
}

export const storageMatchers = { toHaveStored };
