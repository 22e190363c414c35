import { groupedBy } from "../../kernel/base/grouped-by.ts";
import type { FlagTotal } from "../../service/flags/decision-shapes.ts";
import type { Tenant } from "../../sim/client/api.ts";
import { explain } from "../../state/journal/drop-reasons.ts";
import { isUnmatched } from "../../state/journal/unmatched.ts";
import { reportPage, trafficOf } from "./report-client.ts";
import type { ReportData } from "./report-data.ts";
import { verdictOf } from "./run-report.ts";
import type { RunVerdict } from "./shapes.ts";
import { Tally } from "./tally.ts";

export interface FailedTest {
  readonly title: string;
  readonly errors: readonly string[];
  /** ms since the epoch. */
  readonly started: number;
  readonly ended: number;
}

function tallyOf(tenant: Tenant, title: string, { events, requests }: Traffic): Tally {
  const tally = new Tally({ projectKey: tenant.apiKey, maskPath: (path) => path });
  const carried = groupedBy(events, (it) => it.request);
  for (const { n, at, rejected, fault, ...request } of requests) {
    const own = carried.get(n) ?? [];
    const kept = own.filter(({ outcome }) => outcome === "kept");
    tally.add({
      ...request,
      at: Date.parse(at),
      projectName: title,
      ...(rejected && { rejected }),
      fault: fault ?? undefined,
      unmatched: rejected !== null && isUnmatched({ rejected }),
      kept: kept.map(({ event }) => event),
      warned: kept.filter(({ warnings }) => warnings.length > 0).length,
      dropped: own.flatMap(({ event, reason }) => (reason === null ? [] : [{ event, reason, ...explain(reason) }])),
    });
  }
  return tally;
}

type Traffic = Pick<ReportData, "events" | "requests" | "decisions">;

function servedIn({ decisions }: Traffic, project: number): FlagTotal[] {
  const totals = new Map<string, FlagTotal>();
  for (const { key, value } of decisions.flatMap(({ flags }) => flags)) {
    const total = totals.get(key) ?? { project, key, served: 0, called: 0, differs: 0, values: [] };
    const known = total.values.find((it) => it.value === value);
    if (known) known.served++;
    else total.values.push({ value, served: 1, called: 0 });
    totals.set(key, { ...total, served: total.served + 1 });
  }
  return [...totals.values()];
}

export async function testReport(
  tenant: Tenant,
  test: FailedTest,
): Promise<{ readonly verdict: RunVerdict; readonly html: string }> {
  const [traffic, lint] = await Promise.all([trafficOf(tenant), tenant.lint()]);
  const verdict = verdictOf({
    title: test.title,
    command: null,
    started: test.started,
    ended: test.ended,
    failOn: [],
    traffic: tallyOf(tenant, test.title, traffic),
    blocked: [],
    plan: null,
    lint: lint.findings,
    sdks: { sdks: [], more: 0 },
    flags: servedIn(traffic, tenant.projectId),
    tape: null,
    sections: [],
    problems: test.errors.map((text) => ({ code: "test_failed", text, count: 1 })),
    files: [],
  });
  return { verdict, html: await reportPage(traffic, verdict) };
}
