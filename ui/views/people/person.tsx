import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { JsonObject } from "../../../src/kernel/base/json.ts";
import { addressStep } from "../../../src/kernel/base/text.ts";
import type {
  Gap,
  Join,
  ShortEvent,
  PersonStep as Step,
  PersonTimeline as Timeline,
  TimelineEntry,
} from "../../../src/lab/person-history/shapes.ts";
import { query } from "../../api/call.ts";
import { useLast, useResource } from "../../api/resource.ts";
import { link, project, route, withParams } from "../../app/location.ts";
import { projectName, revision } from "../../app/sim.ts";
import { Badge, Button, Facts, Section, Time, Trouble } from "../../parts/basics.tsx";
import { Icon } from "../../parts/icon.tsx";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { personGroups } from "../../parts/tree/property-groups.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { IdentityGraph } from "./identity.tsx";
import { Changes, Properties } from "./properties.tsx";
import { filterOf, joinTexts, nameOf, originTexts } from "./words.ts";

/** The sim's limit of events. */
const most = 500;

/** Project of the selected item: the same id may exist in several. The selected project comes first. */
export const placeOf = (): string | number | undefined => project.value ?? route.value.params.in;

/** True if the selected item may be of this project. */
export const isHere = (id: number): boolean => String(placeOf() ?? id) === String(id);

/** What is unknown, and why. */
export function Gaps({ gaps }: { gaps: readonly Gap[] }) {
  if (gaps.length === 0) return null;
  return (
    <ul class="stack stack-tight people-gaps" aria-label="What is unknown">
      {gaps.map(({ reason, sentence }) => (
        <li key={reason}>
          <Badge tone="odd">{reason}</Badge> {sentence}
        </li>
      ))}
    </ul>
  );
}

/** Details of a person: identity, properties and timeline. */
export function PersonDetails({ id }: { id: string }) {
  const [limit, setLimit] = useState(50);
  const path = `persons/${addressStep(id)}/timeline${query({ project: placeOf(), limit })}`;
  const loaded = useResource<Timeline>(path, { revision: revision.value });
  const { problem } = loaded;
  const data = useLast(loaded.data);
  if (!data || problem?.code === "not_found") return problem ? <Trouble problem={problem} /> : null;
  return (
    <article class="people-details">
      {problem && <Trouble problem={problem} />}
      <Head timeline={data} />
      <Section title="Identity">
        <IdentityGraph timeline={data} />
      </Section>
      <Section title="Properties">
        <Properties
          properties={data.person.properties}
          histories={data.properties}
          elsewhere={data.gaps.length > 0 ? data.elsewhere : {}}
        />
      </Section>
      <Section title="Timeline" actions={<EventsLink timeline={data} />}>
        <Moments events={data.events} withIds={data.person.distinct_ids.length > 1} />
        {data.events.length === 0 && <p class="muted">No events of this person.</p>}
        {data.before !== null && limit < most && (
          <Button onClick={() => setLimit(Math.min(most, limit * 2))}>Show older events</Button>
        )}
        {data.before !== null && limit === most && <p class="muted">{`Only the newest ${most} events are listed.`}</p>}
      </Section>
    </article>
  );
}

const EventsLink = ({ timeline: { person } }: { timeline: Timeline }) => (
  <>
    <a class="button" href={link("events", [], { f: filterOf(person), project: person.project })}>
      Filter events of this person
    </a>
    <a class="button" href={link("sessions", [], { person: person.uuid, project: person.project })}>
      Sessions
    </a>
  </>
);

function Head({ timeline: { person, origin, gaps } }: { timeline: Timeline }) {
  return (
    <Section
      title={
        <span class="row people-title">
          {plain(nameOf(person), 120)}{" "}
          <Badge tone={person.is_identified ? "good" : "plain"}>
            {person.is_identified ? "identified" : "anonymous"}
          </Badge>
        </span>
      }
      actions={
        <a class="button" href={withParams({ part: "journey" })}>
          <Icon of="span" />
          Journey
        </a>
      }
    >
      <Facts
        rows={{
          UUID: <code>{person.uuid}</code>,
          Project: projectName(person.project),
          Ids: counted(person.distinct_ids.length, "distinct id"),
          Created: <Time at={person.created_at} isWhole />,
          "Created by": originTexts[origin],
          Version: numberText(person.version),
        }}
      />
      <Gaps gaps={gaps} />
    </Section>
  );
}

/** An event on one line. */
export function EventLine({ event, withId = true }: { event: ShortEvent; withId?: boolean }) {
  const { seq, timestamp, distinct_id, outcome, reason, warnings, person_mode, request } = event;
  return (
    <div class="row row-wide people-event">
      <Time at={timestamp} />
      <a href={link("events", [seq])} class="people-name cut">
        {plain(event.event, 120) || "(no name)"}
      </a>
      {withId && <span class="mono muted cut people-of">{plain(distinct_id, 80)}</span>}
      <span class="row row-tight end">
        {outcome === "dropped" && <OutcomeBadge of="dropped" code={reason ?? undefined} />}
        {warnings.map((it) => (
          <OutcomeBadge key={it} of="warned" code={it} />
        ))}
        {person_mode === "propertyless" && <Badge>personless</Badge>}
        <a class="muted small" href={link("requests", [request])} title="Its request">
          {`#${request}`}
        </a>
      </span>
    </div>
  );
}

function JoinText({ join: { by, other, into, outcome } }: { join: Join }) {
  return (
    <p class={outcome === "refused" ? "bad" : undefined}>
      <span class="mono">{by}</span> <code>{plain(other, 80)}</code>
      <span aria-hidden="true"> → </span>
      <span class="unseen"> into </span>
      <code>{plain(into, 80)}</code>: {joinTexts[outcome]}
    </p>
  );
}

function StepParts({ step: { created, identified, join, changes } }: { step: Step }) {
  return (
    <>
      {(created || identified) && (
        <p>
          {created && <Badge tone="accent">person created</Badge>} {identified && <Badge tone="good">identified</Badge>}
        </p>
      )}
      {join && <JoinText join={join} />}
      <Changes changes={changes} />
    </>
  );
}

export function After({ properties, title }: { properties: JsonObject; title: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="people-more" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && <PayloadTree value={properties} label={title} groups={personGroups} />}
    </details>
  );
}

export function Moment({ isStep, isRefused, children }: MomentProps) {
  const kind = isStep ? " people-moment-step" : "";
  return <li class={`people-moment${kind}${isRefused ? " people-moment-refused" : ""}`}>{children}</li>;
}

interface MomentProps {
  isStep: boolean;
  isRefused?: boolean;
  children: ComponentChildren;
}

/** Events of a person, newest first, with their changes. */
function Moments({ events, withIds }: { events: readonly TimelineEntry[]; withIds: boolean }) {
  return (
    <ol class="people-moments">
      {events.map((it) => (
        <Moment
          key={it.seq}
          isStep={it.step !== null}
          isRefused={it.step?.join?.outcome === "refused" || it.outcome === "dropped"}
        >
          <EventLine event={it} withId={withIds} />
          {it.step && (
            <div class="stack stack-tight people-step">
              <StepParts step={it.step} />
              {it.after && <After properties={it.after.properties} title="The person after this" />}
            </div>
          )}
          {!it.is_known && <p class="muted people-step">Too old: its effects were not evaluated.</p>}
        </Moment>
      ))}
    </ol>
  );
}
