import { addressStep } from "../../../src/kernel/base/text.ts";
import type { StoredGroup as Group, GroupDetails } from "../../../src/lab/person-history/shapes.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link, route } from "../../app/location.ts";
import { projectName, revision } from "../../app/sim.ts";
import { Badge, Facts, Section, Time, Trouble } from "../../parts/basics.tsx";
import { numberText, plain } from "../../parts/text.ts";
import { Cell, HeadCell } from "../../parts/windowed-list.tsx";
import { Listing, Teach } from "./listing.tsx";
import { After, EventLine, Gaps, isHere, Moment, placeOf } from "./person.tsx";
import { Changes, Properties } from "./properties.tsx";
import { groupCalls, originTexts } from "./words.ts";

const typeOf = (group: Group): string => group.type ?? String(group.type_index);

const titleOf = ({ key, properties }: Group): string =>
  typeof properties.name === "string" && properties.name !== "" ? properties.name : key;

interface Chosen {
  type: string;
  name: string;
}

const isSame = (group: Group, chosen: Chosen | undefined): boolean =>
  isHere(group.project) && typeOf(group) === chosen?.type && group.key === chosen.name;

/** The list of groups, and details of the selected one. */
export function Groups({ chosen }: { chosen: Chosen | undefined }) {
  const { q } = route.value.params;
  return (
    <Listing
      kind="groups"
      label={chosen === undefined ? "Groups" : "Group"}
      keyOf={(it: Group) => `${it.project}/${it.type_index}/${it.key}`}
      hrefOf={(it) => link("people", ["groups", typeOf(it), it.key], { q, in: it.project })}
      cellsOf={(it) => <GroupCells group={it} />}
      head={
        <>
          <HeadCell>Group</HeadCell>
          <HeadCell>Type</HeadCell>
          <HeadCell class="people-wide">Properties</HeadCell>
          <HeadCell class="people-wide">Created</HeadCell>
        </>
      }
      isChosen={(it) => isSame(it, chosen)}
      details={chosen && <GroupArticle key={JSON.stringify(chosen)} type={chosen.type} name={chosen.name} />}
      home={link("people", ["groups"], { q })}
      empty={
        <Teach title="No group yet" calls={groupCalls}>
          A group is a company, a team or another unit that your users belong to. <code>$groupidentify</code> makes it;
          events that name it in <code>$groups</code> are counted for it.
        </Teach>
      }
    />
  );
}

function GroupCells({ group }: { group: Group }) {
  return (
    <>
      <Cell>{plain(titleOf(group), 120)}</Cell>
      <Cell>
        <Badge>{plain(typeOf(group), 40)}</Badge>
      </Cell>
      <Cell class="people-wide muted mono">
        {Object.keys(group.properties)
          .map((it) => plain(it, 40))
          .join(", ")}
      </Cell>
      <Cell class="people-wide muted">
        <Time at={group.created_at} isWhole />
      </Cell>
    </>
  );
}

function GroupArticle({ type, name }: { type: string; name: string }) {
  const path = `groups/${addressStep(type)}/${addressStep(name)}${query({ project: placeOf() })}`;
  const { data, problem } = useResource<GroupDetails>(path, { revision: revision.value });
  if (!data || problem?.code === "not_found") return problem ? <Trouble problem={problem} /> : null;
  return (
    <article class="people-details">
      {problem && <Trouble problem={problem} />}
      <Head group={data} />
      <Section title="Properties">
        <Properties properties={data.properties} histories={data.values} />
      </Section>
      <Section title="History">
        <Steps group={data} />
      </Section>
      <Section title="Recent events">
        {data.events.length === 0 && (
          <p class="muted">{`None among the newest ${numberText(data.searched)} events.`}</p>
        )}
        <ol class="people-moments">
          {data.events.map((it) => (
            <Moment key={it.seq} isStep={false}>
              <EventLine event={it} />
            </Moment>
          ))}
        </ol>
      </Section>
    </article>
  );
}

function Head({ group }: { group: GroupDetails }) {
  return (
    <Section
      title={
        <span class="row people-title">
          {plain(titleOf(group), 120)} <Badge>{plain(typeOf(group), 40)}</Badge>
        </span>
      }
    >
      <Facts
        rows={{
          Key: <code>{plain(group.key)}</code>,
          Type: `${plain(typeOf(group))}, index ${group.type_index}`,
          Project: projectName(group.project),
          Created: <Time at={group.created_at} isWhole />,
          "Created by": originTexts[group.origin],
        }}
      />
      <Gaps gaps={group.gaps} />
    </Section>
  );
}

function Steps({ group: { history } }: { group: GroupDetails }) {
  if (history.length === 0) return <p class="muted">No `$groupidentify` events for this group.</p>;
  return (
    <ol class="people-moments">
      {history.map(({ event, created, changes, after }) => (
        <Moment key={event.seq} isStep={created || changes.length > 0}>
          <EventLine event={event} />
          <div class="stack stack-tight people-step">
            {created && <Badge tone="accent">group created</Badge>}
            <Changes changes={changes} />
            <After properties={after} title="The group after this" />
          </div>
        </Moment>
      ))}
    </ol>
  );
}
