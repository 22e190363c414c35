import type { ComponentChildren } from "preact";
import { own } from "../../../../src/kernel/base/json.ts";
import { addressStep } from "../../../../src/kernel/base/text.ts";
import type { GroupDetails, Join, PersonTimeline, TimelineEntry } from "../../../../src/lab/person-history/shapes.ts";
import type { StoredEvent } from "../../../../src/state/journal/stored-event.ts";
import { query } from "../../../api/call.ts";
import { useResource } from "../../../api/resource.ts";
import { link } from "../../../app/location.ts";
import { Badge } from "../../../parts/basics.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { counted, plain } from "../../../parts/text.ts";
import { type KindProps, personSteps } from "../event-facts.ts";
import { Named, ShownValue } from "../event-parts.tsx";
import { type DiffRow, groupDiff, personDiff, type Sign } from "./person-diff.ts";
import { isAskable, textIn } from "./read-values.ts";
import { NotShown } from "./value-list.tsx";

const most = 200;

const signs: Readonly<Record<Sign, { readonly word: string; readonly tone: string }>> = {
  "±": { word: "changed", tone: "outcome-warned" },
  "+": { word: "new", tone: "outcome-kept" },
  "−": { word: "removed", tone: "outcome-dropped" },
  "=": { word: "as before", tone: "faint" },
  "?": { word: "not known", tone: "faint" },
};

function Values({ row: { sign, from, to, sent } }: { row: DiffRow }) {
  if (sign === "=")
    return (
      <span class="muted">
        {to === undefined ? "not set" : <ShownValue value={to} />}
        {to !== undefined && " stays"}
        {sent !== undefined && (
          <>
            {"; "}
            <ShownValue value={sent} /> was sent
          </>
        )}
      </span>
    );
  return (
    <>
      {from !== undefined && (
        <del>
          <ShownValue value={from} />
        </del>
      )}
      {from !== undefined && to !== undefined && " → "}
      {to !== undefined && (
        <ins>
          <ShownValue value={to} />
        </ins>
      )}
      {sign === "?" && to === undefined && <span class="muted">is removed</span>}
    </>
  );
}

function DiffTable({ rows, caption }: { rows: readonly DiffRow[]; caption: string }) {
  return (
    <>
      <table class="table first-diff">
        <caption class="unseen">{caption}</caption>
        <tbody>
          {rows.slice(0, most).map((row, i) => (
            <tr key={i}>
              <td class={signs[row.sign].tone}>
                <span aria-hidden="true">{row.sign}</span>
                <span class="unseen">{signs[row.sign].word}</span>
              </td>
              <th scope="row" class="mono">
                <Named text={row.name} otherwise="(no name)" />
              </th>
              <td>
                <Values row={row} />
              </td>
              <td class="faint">{plain(row.by, 20)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <NotShown left={rows.length - most} noun="property" />
    </>
  );
}

const joinWords: Readonly<Record<Join["outcome"], string>> = {
  created: "two ids, one new person",
  attached: "two ids, one person from now on",
  merged: "two persons became one",
  same: "they were the same person before",
  refused: "refused: both stay as they were",
};

function Ids({ from, to, children }: { from: string; to: string; children: ComponentChildren }) {
  return (
    <p class="row">
      <span class="first-id mono cut">
        <Named text={from} otherwise="(empty)" />
      </span>
      <Icon of="right" />
      <span class="first-id first-id-into mono cut">
        <Named text={to} otherwise="(empty)" />
      </span>
      <span class="small muted">{children}</span>
    </p>
  );
}

/** The ids that were merged: as the sim replays it, or as the event asks for it. */
function Merge({ event, join }: { event: StoredEvent; join: Join | null | undefined }) {
  if (join)
    return (
      <Ids from={join.other} to={join.into}>
        {joinWords[join.outcome]}
        {join.reason !== null && ` (${plain(join.reason, 80)})`}
      </Ids>
    );
  const asked = personSteps(event).find(({ does }) => does === "merge");
  if (!asked) return null;
  const isSame = asked.name === event.distinct_id;
  return (
    <Ids from={asked.name} to={event.distinct_id}>
      {isSame ? "the same id: nothing to merge" : join === null ? "nothing was merged" : "asked to merge"}
    </Ids>
  );
}

function Unknown({ timeline, hasFailed }: { timeline: PersonTimeline | undefined; hasFailed: boolean }) {
  const [gap] = timeline?.gaps ?? [];
  const why = gap?.sentence ?? (hasFailed ? "the person no longer exists" : "its events cannot be replayed");
  return <p class="muted small">{`What the person was before is not known: ${why}.`}</p>;
}

/** Why an event changes nothing; undefined if it may. */
function whyNothing(event: StoredEvent): string | undefined {
  if (event.outcome === "dropped") return "The event was dropped: nothing was changed.";
  return event.person_mode === "full" ? undefined : "The event has no person profile: nothing was changed.";
}

/** The first tab of `$identify` and `$set`: the person before and after. */
export function PersonDiff({ event }: KindProps) {
  const nothing = whyNothing(event);
  const path = `persons/${addressStep(event.distinct_id)}/timeline${query({
    project: event.project ?? undefined,
    before: event.seq + 1,
    limit: 1,
  })}`;
  const { data, problem, isLoading } = useResource<PersonTimeline>(nothing === undefined ? path : null);
  if (isLoading && !data) return <p class="muted">Reading the history of the person</p>;
  const entry = data?.events.find(({ seq }) => seq === event.seq);
  const { meant, copied, others } = personDiff(event, entry);
  return (
    <div class="stack stack-wide">
      {nothing !== undefined && <p class="muted">{nothing}</p>}
      <Merge event={event} join={entry?.is_known ? (entry.step?.join ?? null) : undefined} />
      <Marks entry={entry} />
      {meant.length > 0 ? (
        <DiffTable rows={meant} caption="The person before and after" />
      ) : (
        <p class="muted">The event sets no properties of the person.</p>
      )}
      {copied.length > 0 && (
        <details>
          <summary>{`Copied by the service: ${counted(copied.length, "field")}`}</summary>
          <DiffTable rows={copied} caption="Copied by the service" />
        </details>
      )}
      {nothing === undefined && entry?.is_known !== true && (
        <Unknown timeline={data} hasFailed={problem !== undefined} />
      )}
      {others !== undefined && (
        <p class="muted small">
          {`${counted(others, "other value")} of the person did not change. `}
          <a href={link("people", [event.distinct_id], { in: event.project ?? undefined })}>The person now</a>
        </p>
      )}
      {entry?.is_known && data?.origin === "unknown" && data.gaps[0] && (
        <p class="muted small">{`The state before may be incomplete: ${data.gaps[0].sentence}.`}</p>
      )}
    </div>
  );
}

function Marks({ entry }: { entry: TimelineEntry | undefined }) {
  const step = entry?.is_known ? entry.step : null;
  if (!step || !(step.created || step.identified)) return null;
  return (
    <p class="row">
      {step.created && <Badge tone="accent">new person</Badge>}
      {step.identified && <Badge tone="accent">identified from now on</Badge>}
    </p>
  );
}

/** Type and key of the group, as the sim reads them. */
function groupOf({ properties }: StoredEvent): { type: string; name: string } | undefined {
  const type = textIn(properties, "$group_type");
  const key = own(properties, "$group_key");
  if (type === undefined || (typeof key !== "string" && typeof key !== "number")) return undefined;
  return { type, name: String(key) };
}

/** The first tab of `$groupidentify`: the group before and after. */
export function GroupDiff({ event }: KindProps) {
  const group = groupOf(event);
  const isKept = event.outcome === "kept";
  const path =
    group && isKept && isAskable(group.type, group.name)
      ? `groups/${addressStep(group.type)}/${addressStep(group.name)}${query({ project: event.project ?? undefined, limit: 1 })}`
      : null;
  const { data, isLoading } = useResource<GroupDetails>(path);
  if (isLoading && !data) return <p class="muted">Reading the history of the group</p>;
  const step = data?.history.find((it) => it.event.seq === event.seq);
  const rows = groupDiff(event, step);
  return (
    <div class="stack stack-wide">
      {group ? (
        <p class="row">
          <Badge>{plain(group.type, 60)}</Badge>
          <a class="mono" href={link("people", ["groups", group.type, group.name], { in: event.project ?? undefined })}>
            <Named text={group.name} otherwise="(empty)" />
          </a>
          {step?.created && <Badge tone="accent">new group</Badge>}
        </p>
      ) : (
        <p class="muted">The event has no $group_type or no $group_key: no group was changed.</p>
      )}
      {!isKept && <p class="muted">The event was dropped: nothing was changed.</p>}
      {rows.length > 0 ? (
        <DiffTable rows={rows} caption="The group before and after" />
      ) : (
        <p class="muted">The event sets no properties of the group.</p>
      )}
      {group && isKept && !step && (
        <p class="muted small">
          {`What the group was before is not known: ${data?.gaps[0]?.sentence ?? "the group no longer exists"}.`}
        </p>
      )}
    </div>
  );
}
