import { counted } from "../../../kernel/base/text.ts";
import { describePattern } from "./describe.ts";
import { nameText, printable } from "./printable.ts";
import type { Complaint, Count, DroppedSighting, NearMiss, Report, Sighting } from "./report-shapes.ts";
import type { Terms } from "./types.ts";

const mostLines = 40;
const widest = 240;

export type ReportFacts = Omit<Report, "text">;

const times = (count: number): string => (count === 1 ? "once" : `${count} times`);

function countText({ min = 0, max }: Count): string {
  if (max === undefined) return min <= 1 ? "at least once" : `at least ${times(min)}`;
  if (max === 0) return "none";
  if (min === max) return `exactly ${times(max)}`;
  return min === 0 ? `at most ${times(max)}` : `${min} to ${max} times`;
}

type Of<K extends Complaint["kind"]> = Extract<Complaint, { kind: K }>;
type Words = { [K in Complaint["kind"]]: (complaint: Of<K>, within: string) => string };

const countComplaint = ({ got, wanted }: { got: number; wanted: Count }, within: string): string =>
  got === 0 ? `not captured${within}` : `captured ${times(got)}${within}, expected ${countText(wanted)}`;

const inShort = ({ seq, event }: Sighting): string => `#${seq} ${nameText(event)}`;

export const endedText = ({ name, events }: { name: string; events: readonly string[] }): string =>
  `the SDK used the key of ${printable(JSON.stringify(name), 80)}, which has ended: it is shared between tests, or was not shut down (${events.map(nameText).join(", ") || "a request without events"})`;

export const wrongKeyText = (
  { api_key, events }: { api_key: string; events: readonly string[] },
  expected: string | null | undefined,
): string =>
  `${api_key === "" ? "the SDK sent no project key" : `the SDK used the key ${printable(api_key, 80)}, which no project has`}; expected ${expected ? printable(expected, 80) : "a key from `phx-sim env`"} (${events.map(nameText).join(", ") || "a request without events"})`;

const words: Words = {
  too_few: countComplaint,
  too_many: (complaint) => countComplaint(complaint, ""),
  out_of_order: ({ event, previous }) =>
    event.seq === previous.seq
      ? `only ${inShort(event)} fits two expectations`
      : `out of order: ${inShort(event)} came before ${inShort(previous)}`,
  ended_key: ({ name, sent }) => endedText({ name, events: sent }),
  wrong_key: ({ sent, expected, api_key }) => wrongKeyText({ api_key, events: sent }, expected),
  unexpected: ({ total }) => `${total} ${total === 1 ? "event that was" : "events that were"} not expected`,
};

// the compiler cannot infer that the entry fits the complaint's kind
const complaintText = (complaint: Complaint, within: string): string =>
  (words[complaint.kind] as (complaint: Complaint, within: string) => string)(complaint, within);

function scopeText({ project, since }: ReportFacts): string {
  const where =
    project === null
      ? "all projects"
      : `project ${project.id}${project.name === "" ? "" : ` ${printable(JSON.stringify(project.name), 60)}`}`;
  return since > 0 ? `${where}, since #${since}` : where;
}

function head(facts: ReportFacts): string[] {
  const { complaints, title, waited_ms } = facts;
  const within = waited_ms === null ? "" : ` within ${waited_ms} ms`;
  const [only, ...others] = complaints;
  const outcome =
    only === undefined
      ? "everything is as expected"
      : others.length === 0
        ? complaintText(only, within)
        : `${complaints.length} expectations failed${within}`;
  return [`${printable(title, 140)} — ${outcome} (${scopeText(facts)})`];
}

const expectationOf = (complaint: Complaint, wanted: readonly string[]): string =>
  "expectation" in complaint ? `${wanted[complaint.expectation] ?? "?"}: ` : "";

function list({ complaints, wanted }: ReportFacts): string[] {
  const isNamed = complaints.length < 2 && (wanted.length < 2 || !complaints.some((it) => "wanted" in it));
  if (isNamed) return [];
  return complaints.map((complaint) => `  ${expectationOf(complaint, wanted)}${complaintText(complaint, "")}`);
}

const clock = (received: string): string => /T([\d:.]+)/.exec(received)?.[1] ?? "";

const sighting = (it: Sighting): string =>
  `  #${it.seq}  ${nameText(it.event)}  distinct_id ${nameText(it.distinct_id)}  at ${printable(clock(it.received_at), 20)}`;

function culprits({ complaints }: ReportFacts): string[] {
  return complaints.flatMap((complaint) => {
    if ("sent" in complaint) return [];
    if (complaint.kind === "out_of_order")
      return complaint.event.seq === complaint.previous.seq
        ? []
        : ["in the order of arrival:", sighting(complaint.event), sighting(complaint.previous)];
    if (complaint.events.length === 0) return [];
    const total = complaint.kind === "unexpected" ? complaint.total : complaint.got;
    const title = complaint.kind === "unexpected" ? "not expected:" : "captured:";
    const more = total - complaint.events.length;
    return [title, ...complaint.events.map(sighting), ...(more > 0 ? [`  … and ${more} more`] : [])];
  });
}

function differenceLines({ differences }: NearMiss, most: number): string[] {
  const shown = differences.slice(0, most);
  const width = Math.min(40, Math.max(...shown.map(({ path }) => path.length), 0));
  const lines = shown.flatMap(({ path, expected, actual, hint }) => [
    `      ${path.padEnd(width)}  - ${expected}`,
    `      ${" ".repeat(width)}  + ${actual ?? "(nothing)"}${hint === null ? "" : `   ${hint}`}`,
  ]);
  const more = differences.length - shown.length;
  return more > 0 ? [...lines, `      … and ${more} more`] : lines;
}

function closest({ near_misses, seen }: ReportFacts): string[] {
  if (near_misses.length === 0) return [];
  const total = Object.values(seen).reduce((sum, count) => sum + count, 0);
  return [
    `closest of ${counted(total, "event")}:`,
    ...near_misses.flatMap((miss, i) => [
      `  #${miss.seq}  ${nameText(miss.event)}  distinct_id ${nameText(miss.distinct_id)}  at ${clock(miss.received_at)}  ${counted(miss.differences.length, "difference")}`,
      ...differenceLines(miss, i === 0 ? 4 : 2),
    ]),
  ];
}

const hints = ({ hints }: ReportFacts): string[] =>
  hints.length === 0 ? [] : ["possible causes:", ...hints.map((hint) => `  - ${hint}`)];

const mostNames = 12;

function captured({ seen }: ReportFacts): string[] {
  const names = Object.entries(seen).sort(([, a], [, b]) => b - a);
  const shown = names
    .slice(0, mostNames)
    .map(([name, count]) => (count > 1 ? `${nameText(name)} ×${count}` : nameText(name)));
  const more = names.length - shown.length;
  return [`captured in scope: ${shown.join(", ") || "nothing"}${more > 0 ? `, and ${more} other names` : ""}`];
}

const droppedLine = ({ seq, event, reason, sentence }: DroppedSighting): string =>
  `  #${seq}  ${nameText(event)}  ${reason}: ${sentence}`;

const mostDropped = 4;

function dropped({ dropped }: ReportFacts): string[] {
  if (dropped.length === 0) return [];
  const more = dropped.length - mostDropped;
  return [
    "dropped (HTTP 200 was returned):",
    ...dropped.slice(0, mostDropped).map(droppedLine),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
}

function traffic({ requests, in_flight, last_request_ms_ago, senders }: ReportFacts): string[] {
  const last = last_request_ms_ago === null ? "" : `   last request ${(last_request_ms_ago / 1000).toFixed(1)} s ago`;
  const from = senders
    .slice(0, 3)
    .map(({ lib, version }) => printable(version === null ? lib : `${lib} ${version}`, 40));
  return [
    `requests: ${requests}   in flight: ${in_flight}${last}${from.length === 0 ? "" : `   from ${from.join(", ")}`}`,
  ];
}

/** Names in a link; more would hide its subject. */
const mostLinked = 4;
/** Longer links are cut by terminals and by reports. */
const longestLink = 200;

/** A name in the language of filters: in quotes if it has more than letters. */
const valueText = (name: string): string => (/^[\w$-]+$/.test(name) ? name : `"${name.replace(/[\\"]/g, "\\$&")}"`);

interface Place {
  url: string;
  project: { id: number } | null;
}

/**
 * The address of the inspector's list of events, as `hrefTo` of ui/app/route.ts writes it.
 * @param names Only events with these names; all events if there are no names, or too many
 */
export function inspectLink({ url, project }: Place, names: readonly string[]): string {
  const scope: [string, string][] = project === null ? [] : [["project", `${project.id}`]];
  const text = [...new Set(names)].slice(0, mostLinked).map(valueText).join(",");
  const filter: [string, string][] = text === "" ? [] : [["f", `event:${text}`]];
  const linked = (pairs: [string, string][]): string =>
    `${url}/__sim/#/events${pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`}`;
  const whole = linked([...scope, ...filter]);
  return whole.length > longestLink ? linked(scope) : whole;
}

const namesIn = (complaint: Complaint): string[] => {
  if (complaint.kind === "out_of_order") return [complaint.previous.event, complaint.event.event];
  if ("sent" in complaint) return [];
  return complaint.events.map(({ event }) => event);
};

/** The names of events in the report that arrived: a link to an empty list would be useless. */
const namesToInspect = ({ complaints, near_misses, dropped, late, early }: ReportFacts): string[] => [
  ...complaints.flatMap(namesIn),
  ...near_misses.map(({ event }) => event),
  ...dropped.flatMap(({ event, fits }) => (fits ? [event] : [])),
  ...[...late, ...early].map(({ event }) => event),
];

const inspect = (facts: ReportFacts): string[] =>
  facts.inspectable
    ? [`inspect: ${inspectLink({ ...facts, url: printable(facts.url, 100) }, namesToInspect(facts))}`]
    : [];

/** Parts in order; the longest ones are shortened if there are too many lines. */
const parts = [head, list, culprits, closest, hints, captured, dropped, traffic, inspect];

function shortened(sections: readonly string[][]): string[] {
  const kept = sections.map((lines) => [...lines]);
  const total = () => kept.reduce((sum, lines) => sum + lines.length, 0);
  while (total() > mostLines) {
    const longest = kept.reduce((a, b) => (b.length > a.length ? b : a));
    longest.splice(-2, 2, "  …");
  }
  return kept.flat();
}

/** The report as text: at most 40 lines of 240 characters, without control characters and colour. */
export const reportText = (facts: ReportFacts): string =>
  shortened(parts.map((part) => part(facts)))
    .map((line) => (line.length > widest ? `${line.slice(0, widest - 1)}…` : line))
    .join("\n");

export const wantedLines = ({ expect }: Terms): string[] => expect.map(({ match }) => describePattern(match, 100));
