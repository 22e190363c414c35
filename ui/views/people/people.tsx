import type { StoredPerson as Person } from "../../../src/lab/person-history/shapes.ts";
import { isSdkProperty } from "../../../src/state/journal/sdk-properties.ts";
import { link, route } from "../../app/location.ts";
import { Badge, Time } from "../../parts/basics.tsx";
import { numberText, plain } from "../../parts/text.ts";
import { Cell, HeadCell } from "../../parts/windowed-list.tsx";
import { Groups } from "./groups.tsx";
import { JourneyPage } from "./journey.tsx";
import { Listing, Teach } from "./listing.tsx";
import { isHere, PersonDetails } from "./person.tsx";
import { identifyCalls, nameOf } from "./words.ts";

export function PeopleView() {
  const [first, type, name] = route.value.path;
  if (first !== "groups") return <Persons id={first} />;
  return <Groups chosen={type === undefined || name === undefined ? undefined : { type, name }} />;
}

/** By distinct id: unlike the uuid, it survives merges. */
const handleOf = ({ distinct_ids: ids, uuid }: Person): string =>
  ids.find((it) => it !== "groups" && it !== "") ?? uuid;

const isSame = ({ project, uuid, distinct_ids: ids }: Person, id: string | undefined): boolean =>
  id !== undefined && isHere(project) && (uuid === id || ids.includes(id));

/** The list of persons, and details of the selected one. */
export function Persons({ id }: { id: string | undefined }) {
  const { q, part } = route.value.params;
  if (id !== undefined && part === "journey") return <JourneyPage key={id} id={id} />;
  return (
    <Listing
      kind="persons"
      label={id === undefined ? "Persons" : "Person"}
      keyOf={(it: Person) => `${it.project}/${it.uuid}`}
      hrefOf={(it) => link("people", [handleOf(it)], { q, in: it.project })}
      cellsOf={(it) => <PersonCells person={it} />}
      head={
        <>
          <HeadCell>Person</HeadCell>
          <HeadCell>State</HeadCell>
          <HeadCell class="cell-number">Ids</HeadCell>
          <HeadCell class="people-wide">Properties</HeadCell>
          <HeadCell class="people-wide">Created</HeadCell>
        </>
      }
      isChosen={(it) => isSame(it, id)}
      details={id === undefined ? undefined : <PersonDetails key={id} id={id} />}
      home={link("people", [], { q })}
      empty={
        <Teach title="No person yet" calls={identifyCalls}>
          The first event of an id makes an anonymous person; <code>identify</code> joins it with the user’s own id.
          Both appear here immediately.
        </Teach>
      }
    />
  );
}

function PersonCells({ person }: { person: Person }) {
  return (
    <>
      <Cell>{plain(nameOf(person), 120)}</Cell>
      <Cell>
        <Badge tone={person.is_identified ? "good" : "plain"}>
          {person.is_identified ? "identified" : "anonymous"}
        </Badge>
      </Cell>
      <Cell class="cell-number">{numberText(person.distinct_ids.length)}</Cell>
      <Cell class="people-wide muted mono">
        {Object.keys(person.properties)
          .filter((it) => !isSdkProperty(it) && person.properties[it] !== null)
          .map((it) => plain(it, 40))
          .join(", ")}
      </Cell>
      <Cell class="people-wide muted">
        <Time at={person.created_at} isWhole />
      </Cell>
    </>
  );
}
