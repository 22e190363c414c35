import { useState } from "preact/hooks";
import type { Gap, PersonTimeline as Timeline } from "../../../src/people/shapes.ts";
import { query } from "../../api/call.ts";
import { useLast, useResource } from "../../api/resource.ts";
import { link, project, route } from "../../app/location.ts";
import { projectName, revision } from "../../app/sim.ts";
import { connection } from "../../feed/socket.ts";
import { Badge, Button, Facts, Section, Time, Trouble } from "../../parts/basics.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { IdentityGraph } from "./identity.tsx";
import { Properties } from "./properties.tsx";
import { Moments } from "./timeline.tsx";
import { filterOf, nameOf, originTexts } from "./words.ts";

/** The sim's limit of events. */
const most = 500;

/** Polls while the feed is disconnected. */
export const pollEvery = (): { every?: number } => (connection.value === "live" ? {} : { every: 3_000 });

/** Project of the selected item: the same id may exist in several. The selected project comes first. */
export const placeOf = (): string | number | undefined => project.value ?? route.value.params.in;

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
  const path = `persons/${encodeURIComponent(id)}/timeline${query({ project: placeOf(), limit })}`;
  const loaded = useResource<Timeline>(path, { revision: revision.value, ...pollEvery() });
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
        {data.before !== null && limit === most && (
          <p class="muted">{`Only the newest ${most} events are listed.`}</p>
        )}
      </Section>
    </article>
  );
}

const EventsLink = ({ timeline: { person } }: { timeline: Timeline }) => (
  <a class="button" href={link("events", [], { f: filterOf(person), project: person.project })}>
    Filter events of this person
  </a>
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
