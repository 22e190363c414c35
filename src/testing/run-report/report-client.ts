import { readFile } from "node:fs/promises";
import { builtFile, htmlWithData } from "../../kernel/base/built-file.ts";
import type { Tenant } from "../../sim/client/api.ts";
import type { SimRequest } from "../../state/journal/request-shapes.ts";
import type { StoredEvent } from "../../state/journal/stored-event.ts";
import type { ReportData, ReportedEvent, ReportedRequest } from "./report-data.ts";
import type { RunVerdict } from "./shapes.ts";

/** Limits of a report: the newest are kept. */
const mostEvents = 10_000;
const mostRequests = 10_000;
const mostDecisions = 1_000;
const mostBytes = 2_000_000;

const eventOf = ({ person_id, person_mode, uuid, ...event }: StoredEvent): ReportedEvent => event;

const requestOf = ({ partition, ...request }: SimRequest): ReportedRequest => request;

/** Events without the properties that exceed the limit; those of dropped events come first. */
function withinLimit(events: readonly StoredEvent[]): { events: ReportedEvent[]; properties: number } {
  let bytes = 0;
  const without = new Set<StoredEvent>();
  const ordered = [...events].sort((a, b) => Number(a.outcome === "kept") - Number(b.outcome === "kept"));
  for (const event of ordered) {
    bytes += JSON.stringify(event.properties).length;
    if (bytes > mostBytes) without.add(event);
  }
  return {
    events: events.map((it) => ({ ...eventOf(it), properties: without.has(it) ? null : it.properties })),
    properties: without.size,
  };
}

type Traffic = Omit<ReportData, "verdict" | "left_out"> & { readonly withoutProperties: number };

export async function trafficOf(tenant: Tenant): Promise<Traffic> {
  const [events, requests, decisions] = await Promise.all([
    tenant.events.list({ order: "desc", limit: mostEvents }),
    tenant.requests.list({ limit: mostRequests }),
    tenant.flags.decisions({ limit: mostDecisions }),
  ]);
  const within = withinLimit(events.reverse());
  return {
    events: within.events,
    withoutProperties: within.properties,
    requests: requests.map(requestOf).reverse(),
    decisions: decisions
      .reverse()
      .map(({ at, request, project, distinct_id, by, flags }) => ({
        ...{ at, request, project, distinct_id, by },
        flags: flags.map(({ key, value, reason }) => ({ key, value, reason: reason?.description ?? null })),
      })),
  };
}

export async function reportPage({ withoutProperties, ...traffic }: Traffic, verdict: RunVerdict): Promise<string> {
  const template = await readFile(builtFile("report/report.html"), "utf8");
  const { events, requests, decisions } = traffic;
  const data: ReportData = {
    verdict,
    ...traffic,
    left_out: {
      events: Math.max(0, verdict.events.kept + verdict.events.dropped - events.length),
      requests: Math.max(0, verdict.requests.total - requests.length),
      decisions: decisions.length >= mostDecisions,
      properties: withoutProperties,
    },
  };
  return htmlWithData(template, data);
}
