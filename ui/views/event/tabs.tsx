import { useMemo, useState } from "preact/hooks";
import { type Json, type JsonObject, own } from "../../../src/kernel/base/json.ts";
import { isEqual } from "../../../src/kernel/base/json-differences.ts";
import { capital } from "../../../src/kernel/base/text.ts";
import type { LintFinding, LintPage } from "../../../src/lab/lint/shapes.ts";
import type { StoredPerson } from "../../../src/lab/person-history/shapes.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { query, type SimProblem } from "../../api/call.ts";
import { decodeChain, headerOf } from "../../api/requests.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { info, projectName } from "../../app/sim.ts";
import { prettyJson } from "../../copy/quote.ts";
import { type CopyContext, type CopyRow, copyGroups, copyRows } from "../../copy/rows.ts";
import { isCopy } from "../../copy/subject.ts";
import { Badge, Button, Code, CopyButton, Facts, Prose, Time, Trouble } from "../../parts/basics.tsx";
import { Table } from "../../parts/layout.tsx";
import { Fix } from "../../parts/outcome.tsx";
import { counted, numberText, plain, spanText } from "../../parts/text.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import {
  findingsFor,
  isAbout,
  type PersonStep,
  personSteps,
  placeIn,
  rawItem,
  type ShownRequest,
  sendableItem,
} from "./event-facts.ts";
import { Named, ShownValue } from "./event-parts.tsx";
import { eventHref } from "./neighbours.ts";

const does: Readonly<Record<PersonStep["does"], string>> = {
  set: "sets",
  "set once": "sets, if unset",
  unset: "removes",
  merge: "merges with",
  group: "belongs to",
};

function Now({ step, properties }: { step: PersonStep; properties: JsonObject | undefined }) {
  if (properties === undefined || !step.does.startsWith("set")) return null;
  const now: Json | undefined = own(properties, step.name);
  if (isEqual(now, step.value)) return <span class="muted">unchanged</span>;
  return now === undefined ? <span class="muted">removed since</span> : <ShownValue value={now} />;
}

function Steps({ steps, person }: { steps: readonly PersonStep[]; person: StoredPerson | undefined }) {
  return (
    <Table class="event-person" columns={["Change", "Name", "Value", "Current value"]}>
      {steps.slice(0, 200).map((step) => (
        <tr key={`${step.does} ${step.name}`}>
          <td>{does[step.does]}</td>
          <td class="mono">
            <Named text={step.name} otherwise="(no name)" />
          </td>
          <td>{step.value !== undefined && <ShownValue value={step.value} />}</td>
          <td>
            <Now step={step} properties={person?.properties} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** The tab with the event's changes of its person and groups, and the current values. */
export function PersonChanges({ event }: { event: StoredEvent }) {
  const id = event.person_mode === "full" ? event.person_id : null;
  const path =
    id === null ? null : `persons/${encodeURIComponent(id)}${query({ project: event.project ?? undefined })}`;
  const { data: person } = useResource<StoredPerson>(path);
  const steps = personSteps(event);
  const [meant, copied] = [ownSteps(steps), copiedSteps(steps)];
  if (event.outcome === "dropped") return <p class="muted">The event was dropped: no person was changed.</p>;
  return (
    <div class="stack stack-loose">
      {meant.length > 0 ? (
        <Steps steps={meant} person={person} />
      ) : (
        <p class="muted">The event changes no person properties and merges no persons.</p>
      )}
      {copied.length > 0 && (
        <details>
          <summary>{`Copied by the service: ${counted(copied.length, "field")}`}</summary>
          <Steps steps={copied} person={person} />
        </details>
      )}
      {person && (
        <p>
          <a href={link("people", [person.uuid])}>The person</a>{" "}
          <span class="muted">known by {counted(person.distinct_ids.length, "distinct id")}</span>
        </p>
      )}
    </div>
  );
}

const isCopied = ({ does, name }: PersonStep): boolean => does.startsWith("set") && isCopy(name);

/** Intended changes of the person. */
export const ownSteps = (steps: readonly PersonStep[]): PersonStep[] => steps.filter((it) => !isCopied(it));

/** Changes that the service copies from the event's properties. */
const copiedSteps = (steps: readonly PersonStep[]): PersonStep[] => steps.filter(isCopied);

function Chain({ request }: { request: ShownRequest }) {
  return (
    <ol class="row row-wide chain" aria-label="Decoding steps">
      {decodeChain(request).map((step) => (
        <li key={step}>{plain(step)}</li>
      ))}
    </ol>
  );
}

const shownAround = 8;

function Others({ event, request }: { event: StoredEvent; request: ShownRequest }) {
  const place = placeIn(event, request);
  const from = Math.max(0, place - shownAround);
  const near = request.carried.slice(from, place + shownAround + 1);
  if (near.length < 2) return <>the only event</>;
  return (
    <span class="row row-wide event-others">
      {`${numberText(place + 1)} of ${numberText(request.carried.length)}: `}
      {near.map(({ seq }) => (
        <a key={seq} href={eventHref(seq)} aria-current={seq === event.seq ? "true" : undefined}>
          {seq}
        </a>
      ))}
    </span>
  );
}

interface RequestProps {
  event: StoredEvent;
  request: ShownRequest | undefined;
  problem: SimProblem | undefined;
}

export function RequestFacts({ event, request, problem }: RequestProps) {
  if (problem) return <Trouble problem={problem} />;
  if (!request) return <p class="muted">Loading request {event.request}</p>;
  const agent = headerOf(request, "user-agent");
  return (
    <Facts
      rows={{
        Request: <a href={link("requests", [request.n])}>{request.n}</a>,
        "Sent to": <code>{plain(`${request.method} ${request.target}`)}</code>,
        Place: <Others event={event} request={request} />,
        Decoded: <Chain request={request} />,
        "User-Agent": agent && plain(agent),
        From: plain(request.peer),
        Arrival: <Time at={request.at} isExact />,
        Project: plain(projectName(event.project)),
        "Event uuid": event.uuid === null ? undefined : <code>{plain(event.uuid)}</code>,
        Response: (
          <>
            {request.status === 0 ? "none" : request.status} <span class="muted">after {spanText(request.ms)}</span>{" "}
            {request.fault !== null && <Badge tone="bad">{plain(request.fault)}</Badge>}
          </>
        ),
      }}
    />
  );
}

/** The tab with the item as sent. */
export function Raw({ event, request }: { event: StoredEvent; request: ShownRequest | undefined }) {
  if (!request) return <p class="muted">Loading request {event.request}</p>;
  const item = rawItem(event, request);
  const whole = <a href={link("requests", [event.request])}>the whole request</a>;
  if (item === undefined) return <p class="muted">The item is not available separately; see {whole}.</p>;
  return (
    <div class="stack stack-loose">
      <p class="row row-wide event-line muted">
        <span>
          {request.decode_steps.includes("otlp") ? "The event that the OTLP span became" : "As sent"}, keys masked; see{" "}
          {whole}.
        </span>
        <CopyButton kind="quiet" label="Copy JSON" text={() => prettyJson(item)} />
      </p>
      <PayloadTree value={item} label="Item as sent" search open={2} />
    </div>
  );
}

/** Maximum time to wait for the linter, ms. */
const patience = 1_000;

/** The linter's findings for the event's project; undefined while loading. */
export const useFindings = (event: StoredEvent | undefined): LintPage | undefined => {
  const project = event?.project ?? null;
  const path = project === null ? null : `lint${query({ project, max_ms: patience })}`;
  return useResource<LintPage>(path, { revision: event?.seq }).data;
};

function Seen({ event, finding }: { event: StoredEvent; finding: LintFinding }) {
  const { first_seq: first, last_seq: last, count } = finding;
  const others = [first, last].filter((seq, i, all) => seq !== null && all.indexOf(seq) === i);
  return (
    <p class="muted">
      {isAbout(event, finding) ? "Found in this event. " : `Found in other events of this name. `}
      Seen {counted(count, "time")}
      {others.length > 0 && ", "}
      {others.map((seq, i) => (
        <span key={seq}>
          {i > 0 && " to "}
          <a href={eventHref(seq ?? 0)}>{`event ${numberText(seq ?? 0)}`}</a>
        </span>
      ))}
    </p>
  );
}

function One({ event, finding }: { event: StoredEvent; finding: LintFinding }) {
  return (
    <li class="stack stack-tight aside">
      <p>
        <Badge tone={finding.severity === "warning" ? "odd" : "note"}>{finding.severity}</Badge>{" "}
        <strong>
          <Prose text={capital(finding.sentence)} />
        </strong>{" "}
        <code>{finding.code}</code>
      </p>
      <p class="event-detail">{plain(finding.detail)}</p>
      <Fix text={finding.fix} />
      <Seen event={event} finding={finding} />
    </li>
  );
}

/** The tab with the linter's findings about the event, its name or its request. */
export function Findings({ event, page }: { event: StoredEvent; page: LintPage | undefined }) {
  if (event.project === null) return <p class="muted">The event belongs to no project, so it was not linted.</p>;
  if (!page) return <p class="muted">The linter is reading the events.</p>;
  const found = findingsFor(event, page.findings);
  return (
    <div class="stack stack-loose">
      {page.behind > 0 && <p class="muted">The linter has {counted(page.behind, "event")} left to read.</p>}
      {found.length === 0 ? (
        <p class="muted">The linter found no problems with events of this name.</p>
      ) : (
        <ul class="stack stack-loose">
          {found.map((finding) => (
            <One key={`${finding.code} ${finding.event} ${finding.detail}`} event={event} finding={finding} />
          ))}
        </ul>
      )}
    </div>
  );
}

const keyOf = ({ project }: StoredEvent): string =>
  info.value?.projects.find((it) => it.id === project)?.api_key ?? info.value?.project_api_key ?? "";

const contextOf = (event: StoredEvent, request: ShownRequest | undefined): CopyContext => ({
  url: info.value?.url ?? location.origin,
  apiKey: keyOf(event),
  item: request && sendableItem(event, request),
});

function Text({ row, event, context }: { row: CopyRow; event: StoredEvent; context: CopyContext }) {
  const text = useMemo(() => row.text(event, context), [row, event, context]);
  return <Code text={text} label={row.label} kind="main" most={20_000} />;
}

const groups = Object.keys(copyGroups) as CopyRow["group"][];

/** The tab with snippets of the event. */
export function CopyAs({ event, request }: { event: StoredEvent; request: ShownRequest | undefined }) {
  const [chosen, setChosen] = useState("curl");
  const context = useMemo(() => contextOf(event, request), [event, request]);
  const row = copyRows.find((it) => it.id === chosen);
  return (
    <div class="stack stack-loose">
      {groups.map((group) => (
        <fieldset key={group} class="row row-tight event-choices">
          <legend class="muted">{copyGroups[group]}</legend>
          {copyRows
            .filter((it) => it.group === group)
            .map((it) => (
              <Button key={it.id} isPressed={it.id === chosen} onClick={() => setChosen(it.id)}>
                {it.label}
              </Button>
            ))}
        </fieldset>
      ))}
      {row && <Text key={row.id} row={row} event={event} context={context} />}
    </div>
  );
}
