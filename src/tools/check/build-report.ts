import { textIn } from "../../kernel/base/json.ts";
import { byLevel, isAtLeast } from "../../kernel/command/finding.ts";
import type { LintFinding } from "../../lab/lint/shapes.ts";
import type { Observations } from "./observations.ts";
import { deliveryRules } from "./rules/delivery-rules.ts";
import { eventRules } from "./rules/event-rules.ts";
import { isOfServer, loadedSdks } from "./rules/facts.ts";
import { identityRules } from "./rules/identity-rules.ts";
import type { CheckRule } from "./rules/rule.ts";
import { sdkRules } from "./rules/sdk-rules.ts";
import { type CheckArea, type CheckFinding, type CheckReport, checkAreas } from "./shapes.ts";

/** Every rule by its code. docs/check.md lists them. */
export const checkRules: Readonly<Record<string, CheckRule>> = {
  ...sdkRules,
  ...deliveryRules,
  ...eventRules,
  ...identityRules,
};

const mostEvidence = 5;

/** The rules' findings, without those that another one explains. */
function ruleFindings(o: Observations): CheckFinding[] {
  const found = Object.entries(checkRules).flatMap(([code, { find, unless = [], ...row }]) => {
    const evidence = find(o);
    return evidence.length === 0 ? [] : [{ code, row, evidence, unless }];
  });
  return found
    .filter(({ code, unless }) => !found.some((other) => other.code !== code && unless.includes(other.code)))
    .map(({ code, row: { area, severity, sentence, fix }, evidence }) => ({
      ...{ code, area, severity, sentence, fix, count: evidence.length },
      evidence: evidence.slice(0, mostEvidence),
    }));
}

/** Mistakes in the traffic, as the linter finds them. */
const lintFinding = (lint: LintFinding): CheckFinding => ({
  code: lint.code,
  area: lint.code === "pii_property" ? "privacy" : lint.code.startsWith("feature_flag") ? "flags" : "events",
  severity: lint.severity === "hint" ? "info" : "warning",
  sentence: lint.sentence,
  fix: lint.fix,
  count: lint.count,
  evidence: [
    {
      text: lint.event === null ? lint.detail : `${lint.event}: ${lint.detail}`,
      request: lint.n,
      event: lint.first_seq ?? undefined,
    },
  ],
});

interface Unchecked {
  readonly area: CheckArea;
  readonly how: string;
  /** undefined: it was checked. */
  reason(o: Observations): string | undefined;
}

const hostsIn = (o: Observations, place: "proxy" | "elsewhere"): string =>
  [...new Set(o.requests.filter((it) => it.place === place && it.byUs).map((it) => it.host + it.prefix))].join(", ");

const stubs = /\[phx-sim\] ([\w.-]+\.js) is a stub/;

/** What could not be checked, and how it can be. */
const limits: readonly Unchecked[] = [
  {
    area: "app",
    how: "open more with --pages N, or name their addresses",
    reason: ({ unopened }) => (unopened > 0 ? `linked pages that were not opened: ${unopened}` : undefined),
  },
  {
    area: "app",
    how: "correct the selector",
    reason: ({ missedClicks }) =>
      missedClicks.length > 0 ? `no element for --click ${missedClicks.join(", ")}` : undefined,
  },
  {
    area: "sdk",
    how: "npm install posthog-js beside the app, in the version that the page loads",
    reason: ({ visits }) => {
      const found = visits.flatMap((it) => it.console.flatMap(({ text }) => stubs.exec(text)?.[1] ?? []));
      return found.length > 0
        ? `scripts that the page loads from PostHog, and that are not installed here: ${[...new Set(found)].join(", ")}`
        : undefined;
    },
  },
  {
    area: "proxy",
    how: "start the app with --start COMMAND: its server's requests then go to the sim",
    reason: (o) => {
      const hosts = hostsIn(o, "proxy");
      return hosts === ""
        ? undefined
        : `${hosts} was not contacted: a running app's proxy would send to the real service`;
    },
  },
  {
    area: "host",
    how: "test that host by itself",
    reason: (o) => {
      const hosts = hostsIn(o, "elsewhere");
      return hosts === "" ? undefined : `${hosts} was not contacted: the sim answered in its place`;
    },
  },
  {
    area: "identity",
    how: "click the login with --click SELECTOR, or name a page behind it",
    reason: (o) =>
      loadedSdks(o).length > 0 && !o.events.some(({ event }) => event === "$identify")
        ? "no user logged in: identify was not seen"
        : undefined,
  },
  {
    area: "server",
    how: "start the app with --start COMMAND",
    reason: ({ app: { command } }) =>
      command === null ? "events of a running app's server go to the host that it was started with" : undefined,
  },
];

/** The SDKs by name and version, with their events; recordings have no version. */
function sdksOf(o: Observations): CheckReport["sdks"] {
  const versions = new Map<string, Map<string | null, number>>();
  const add = (lib: string, version: string | null, events: number) => {
    const name = lib === "web" ? "posthog-js" : lib;
    const counts = versions.get(name) ?? new Map<string | null, number>();
    const at = version ?? [...counts.keys()][0] ?? null;
    versions.set(name, counts.set(at, (counts.get(at) ?? 0) + events));
  };
  for (const { version } of loadedSdks(o)) if (version !== null) add("web", version, 0);
  for (const { outcome, properties } of o.events) {
    const lib = textIn(properties, "$lib");
    if (lib !== "" && outcome === "kept") add(lib, textIn(properties, "$lib_version") || null, 1);
  }
  return [...versions].flatMap(([name, counts]) => [...counts].map(([version, events]) => ({ name, version, events })));
}

/** Areas about which these observations say something. */
function areasOf(o: Observations): CheckArea[] {
  const isWeb = o.visits.length > 0;
  const isServer = o.app.exitCode !== null || o.events.some(isOfServer);
  const has: Readonly<Record<CheckArea, boolean>> = {
    app: true,
    sdk: isWeb,
    key: true,
    host: isWeb,
    proxy: o.requests.some(({ place, byUs }) => place === "proxy" && !byUs),
    pageviews: isWeb,
    identity: true,
    flags: o.requests.some(({ kind }) => kind === "flags"),
    recordings: loadedSdks(o).some(({ config }) => !config.recordingDisabled),
    events: true,
    privacy: true,
    server: isServer,
  };
  return (Object.keys(checkAreas) as CheckArea[]).filter((it) => has[it]);
}

/** Whether findings of this severity fail the check. */
export type FailOn = "error" | "warning";

export function buildReport(o: Observations, browser: string | null, failOn: FailOn = "error"): CheckReport {
  const findings = [...ruleFindings(o), ...o.lint.map(lintFinding)].sort((a, b) => byLevel(a.severity, b.severity));
  const countOf = (severity: CheckFinding["severity"]) => findings.filter((it) => it.severity === severity).length;
  const counts = { errors: countOf("error"), warnings: countOf("warning"), infos: countOf("info") };
  const isFailed = findings.some(({ severity }) => isAtLeast(severity, failOn));
  const kept = o.events.filter(({ outcome }) => outcome === "kept").length;
  const worst = (area: CheckArea) =>
    findings.find((it) => it.area === area && it.severity !== "info")?.severity ?? "ok";
  return {
    schema: 1,
    verdict: isFailed ? "failed" : "passed",
    command: o.app.command,
    browser,
    sdks: sdksOf(o),
    pages: o.visits.map(({ url, how, status, title }, i) => ({
      url,
      how,
      status,
      title,
      events: o.events.filter(({ visit }) => visit === i).map(({ event }) => event),
    })),
    counts: { ...counts, events: kept, dropped: o.events.length - kept, rejected: o.rejected.length },
    findings,
    checked: areasOf(o).map((area) => {
      const result = worst(area);
      return { area, what: checkAreas[area], result: result === "info" ? "ok" : result };
    }),
    unchecked: limits.flatMap(({ area, how, reason }) => {
      const why = reason(o);
      return why === undefined ? [] : [{ area, reason: why, how }];
    }),
  };
}
