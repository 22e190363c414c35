import { isServiceHost, sdkPathOf } from "../browser/interception.ts";
import type { ProbeNote } from "../browser/probe.ts";
import type { Observations, Visit } from "../observations.ts";
import {
  callsOf,
  distinct,
  hasFailed,
  isDocument,
  isOfBrowser,
  isOfServer,
  loadedIn,
  loadedSdks,
  requestEvidence,
} from "./facts.ts";
import type { CheckEvidence, CheckRule } from "./rule.ts";

type Blocked = Extract<ProbeNote, { kind: "csp" }>;

const blockedIn = ({ notes }: Visit): Blocked[] =>
  notes.filter((it): it is Blocked => {
    if (it.kind !== "csp" || !URL.canParse(it.uri)) return false;
    const url = new URL(it.uri);
    return isServiceHost(url) || sdkPathOf(url.pathname) !== undefined;
  });

const isOfScripts = ({ directive }: Blocked): boolean => directive.startsWith("script-src");

const blockedEvidence = (visits: readonly Visit[], takes: (it: Blocked) => boolean): CheckEvidence[] =>
  distinct(
    visits.flatMap((visit) =>
      blockedIn(visit)
        .filter(takes)
        .map(({ uri, directive }) => ({ text: `${directive} blocks ${uri}`, url: visit.url })),
    ),
  );

/** True if a call made the SDK drop the event although it was initialized. */
const dropsAll = (visits: readonly Visit[]): boolean => {
  const captures = visits.flatMap((it) => callsOf(it, "capture")).filter(({ loaded }) => loaded);
  return captures.length > 0 && captures.every(({ returned }) => !returned);
};

/** The user agent of the people who use the app, as posthog-js compares it. */
const ordinaryAgent =
  "mozilla/5.0 (windows nt 10.0; win64; x64) applewebkit/537.36 (khtml, like gecko) chrome/143.0.0.0 safari/537.36";

const blockingAgents = (o: Observations): string[] =>
  loadedSdks(o)
    .filter(({ config }) => !config.ignoresBots)
    .flatMap(({ config }) => config.blockedAgents)
    .filter((it) => ordinaryAgent.includes(it.toLowerCase()));

const isOptedOut = (o: Observations): boolean => {
  const loaded = loadedSdks(o);
  return loaded.length > 0 && loaded.every(({ optedOut }) => optedOut) && !o.events.some(isOfBrowser);
};

const loader = /\/array(?:\.full)?[\w.-]*\.js(?:[?\s]|$)/;

/** True if the snippet's script did not come; the sim has none if posthog-js is not installed. */
const isWaiting = ({ sdk, console }: Visit): boolean =>
  sdk.stub && sdk.instances.length === 0 && !console.some(({ text }) => text.includes("[phx-sim] array.js"));

const onEach = ({ visits }: Observations, look: (visit: Visit) => readonly string[]): readonly CheckEvidence[] =>
  distinct(visits.flatMap((visit) => look(visit).map((text) => ({ text, url: visit.url }))));

/** Whether the app runs, and whether the SDK loads, is initialized and captures. */
export const sdkRules = {
  app_failed: {
    area: "app",
    severity: "error",
    sentence: "the command ended with an error",
    fix: "run the command by hand, and fix what it prints",
    find: ({ app: { command, exitCode, output } }) =>
      exitCode === null || exitCode === 0
        ? []
        : [{ text: [`${command} ended with exit code ${exitCode}`, ...output].join("\n") }],
  },
  page_failed: {
    area: "app",
    severity: "error",
    sentence: "a page does not load",
    fix: "open the address in a browser; check the port and the path",
    find: ({ visits }) =>
      visits.flatMap(({ url, failure, status }) =>
        failure !== null || (status ?? 200) >= 400
          ? [{ text: failure ?? `the page is answered with ${status}`, url }]
          : [],
      ),
  },
  sdk_missing: {
    area: "sdk",
    severity: "error",
    sentence: "no PostHog SDK was found on any page, and no request to PostHog was made",
    fix: "add posthog-js to the pages: the snippet, or `posthog.init(key, { api_host })` in the code that runs in the browser",
    unless: ["page_failed", "sdk_blocked", "sdk_script_failed"],
    find: ({ visits, requests, events }) =>
      visits.length > 0 &&
      requests.length === 0 &&
      !events.some(isOfServer) &&
      visits.every(({ sdk }) => sdk.instances.length === 0 && !sdk.stub)
        ? visits.filter(isDocument).map(({ url }) => ({ text: "no SDK on this page", url }))
        : [],
  },
  sdk_blocked: {
    area: "sdk",
    severity: "error",
    sentence: "the page's Content-Security-Policy blocks a script of the SDK",
    fix: "add https://*.posthog.com (or your proxy's host) to script-src",
    find: ({ visits }) => blockedEvidence(visits, isOfScripts),
  },
  requests_blocked: {
    area: "sdk",
    severity: "error",
    sentence: "the page's Content-Security-Policy blocks requests of the SDK",
    fix: "add https://*.posthog.com (or your proxy's host) to connect-src",
    find: ({ visits }) => blockedEvidence(visits, (it) => !isOfScripts(it)),
  },
  sdk_script_failed: {
    area: "sdk",
    severity: "error",
    sentence: "the snippet's script does not load",
    fix: "use the snippet of your project's settings; behind a proxy, pass /static on to the assets host, too",
    unless: ["sdk_blocked"],
    find: (o) => {
      const failed = o.requests.filter((it) => loader.test(it.url) && hasFailed(it));
      const waiting = o.visits
        .filter(isWaiting)
        .map(({ url, console }) => ({
          text: console.find(({ text }) => loader.test(text))?.text ?? "the snippet waits for its script",
          url,
        }));
      return distinct([...failed.map((it) => requestEvidence(it, o)), ...waiting]);
    },
  },
  sdk_not_initialized: {
    area: "sdk",
    severity: "error",
    sentence: "the SDK is on the page and is not initialized",
    fix: "call posthog.init(key, { api_host }) where the app starts in the browser",
    unless: ["key_missing", "sdk_blocked", "sdk_script_failed"],
    find: (o) =>
      loadedSdks(o).length > 0
        ? []
        : onEach(o, ({ sdk }) => (sdk.instances.length > 0 ? ["posthog.init was not called"] : [])),
  },
  sdk_initialized_twice: {
    area: "sdk",
    severity: "warning",
    sentence: "posthog.init is called again on an SDK that is initialized: the second call has no effect",
    fix: "call it once, outside of components and effects; a second project needs a name as the third argument",
    find: (o) =>
      onEach(o, (visit) =>
        callsOf(visit, "init").some(({ loaded }) => loaded) ? ["posthog.init was called twice"] : [],
      ),
  },
  sdk_loaded_twice: {
    area: "sdk",
    severity: "warning",
    sentence: "two copies of the SDK capture on one page: events arrive twice",
    fix: "use either the snippet or the npm package",
    find: (o) =>
      onEach(o, (visit) => {
        const copies = new Set(loadedIn(visit).map(({ copy }) => copy)).size;
        return copies > 1 ? [`${copies} copies of posthog-js are initialized`] : [];
      }),
  },
  called_before_init: {
    area: "sdk",
    severity: "error",
    sentence: "a method is called before posthog.init: the call has no effect",
    fix: "call posthog.init first; call the others afterwards, or in its `loaded` option",
    unless: ["key_missing", "sdk_not_initialized"],
    find: (o) =>
      onEach(o, (visit) =>
        callsOf(visit, "capture", "identify", "reset")
          .filter(({ loaded }) => !loaded)
          .map(({ name, argument }) => `posthog.${name}(${argument === null ? "" : JSON.stringify(argument)}) is lost`),
      ),
  },
  sdk_opted_out: {
    area: "sdk",
    severity: "warning",
    sentence: "capturing is opted out on every page: nothing is sent",
    fix: "call posthog.opt_in_capturing() once the user agrees; if a banner does that, check with --click SELECTOR of its button",
    find: (o) =>
      isOptedOut(o)
        ? onEach(o, (visit) =>
            loadedIn(visit).map(
              ({ config }) =>
                `has_opted_out_capturing() is true${config.optOutByDefault ? ", by opt_out_capturing_by_default" : ""}`,
            ),
          )
        : [],
  },
  before_send_drops: {
    area: "sdk",
    severity: "error",
    sentence: "before_send drops every event",
    fix: "return the event from before_send for all that is to be sent",
    unless: ["sdk_opted_out", "bot_filter_blocks"],
    find: (o) =>
      loadedSdks(o).some(({ config }) => config.beforeSend) && dropsAll(o.visits) && !o.events.some(isOfBrowser)
        ? onEach(o, (visit) =>
            callsOf(visit, "capture")
              .filter(({ returned }) => !returned)
              .map(({ argument }) => `${argument} was dropped`),
          )
        : [],
  },
  bot_filter_blocks: {
    area: "sdk",
    severity: "error",
    sentence: "custom_blocked_useragents fits the browsers of ordinary users: their events are dropped",
    fix: "name the robots only, not a part of every user agent",
    find: (o) =>
      dropsAll(o.visits)
        ? [...new Set(blockingAgents(o))].map((it) => ({
            text: `${JSON.stringify(it)} is a part of Chrome's user agent`,
          }))
        : [],
  },
  bot_filter: {
    area: "sdk",
    severity: "info",
    sentence: "the SDK captures nothing in automated browsers (Playwright, Cypress, Selenium)",
    fix: "nothing for production; in tests set opt_out_useragent_filter: true, or use phx-sim's fixtures, which hide the automation",
    find: (o) =>
      loadedSdks(o).some(({ config }) => !config.ignoresBots)
        ? [{ text: "opt_out_useragent_filter is not set; the check's own browser hides its automation" }]
        : [],
  },
} as const satisfies Record<string, CheckRule>;
