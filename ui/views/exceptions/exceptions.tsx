import { useMemo, useState } from "preact/hooks";
import type { ExceptionGroup, ExceptionGroups } from "../../../src/lab/exceptions/shapes.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link, project } from "../../app/location.ts";
import { stat } from "../../feed/socket.ts";
import { Badge, Empty, Scrolled, Time, Trouble } from "../../parts/basics.tsx";
import { TextInput } from "../../parts/fields.tsx";
import { Table } from "../../parts/layout.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { cutText } from "../../parts/tree/safe-text.ts";
import { ShownText } from "../../parts/tree/tree-row.tsx";

/** Asked again until everything is counted, ms. */
const pause = 500;
const mostShown = 200;

const isFound = ({ type, message, at }: ExceptionGroup, text: string): boolean =>
  `${type} ${message} ${at ?? ""}`.toLowerCase().includes(text);

function Group({ group }: { group: ExceptionGroup }) {
  const { id, type, message, handled, at } = group;
  return (
    <tr>
      <td>
        <a class="exceptions-type mono" href={link("events", [group.last], { f: `event:$exception exception:${id}` })}>
          {type === "" ? "(no type)" : <ShownText text={cutText(type, 200)} />}
        </a>{" "}
        {handled === false && (
          <Badge tone="bad" isMarked={false}>
            not handled
          </Badge>
        )}
        <p class="exceptions-message">
          <ShownText text={cutText(message.replaceAll("\n", " "), 300)} />
        </p>
        {at !== null && <p class="small muted mono">{plain(at, 200)}</p>}
      </td>
      <td class="number">
        <a href={link("events", [], { f: `event:$exception exception:${id}` })}>{numberText(group.count)}</a>
      </td>
      <td class="number">
        {numberText(group.persons)}
        {!group.persons_complete && "+"}
      </td>
      <td class="number">
        <a href={link("events", [group.first])}>
          <Time at={group.first_at} isWhole />
        </a>
      </td>
      <td class="number">
        <a href={link("events", [group.last])}>
          <Time at={group.last_at} isWhole />
        </a>
      </td>
    </tr>
  );
}

/** Exceptions of the project by fingerprint, the latest first. */
export function ExceptionsView() {
  const [text, setText] = useState("");
  const { data, problem } = useResource<ExceptionGroups>(`exceptions${query({ project: project.value })}`, {
    revision: stat.value?.events,
    again: (it) => (it?.counting ? pause : undefined),
  });
  const found = useMemo(
    () => (data?.groups ?? []).filter((it) => isFound(it, text.trim().toLowerCase())),
    [data, text],
  );
  if (problem && !data) return <Trouble problem={problem} />;
  if (!data) return <p class="muted shell-loading">Loading</p>;
  if (data.groups.length === 0)
    return (
      <Empty title={data.counting ? "Exceptions are being counted" : "No exceptions"}>
        <p>
          Errors that an SDK captures (<code>captureException</code>, exception autocapture) are listed here, equal ones
          in one row.
        </p>
      </Empty>
    );
  const sum = found.reduce((total, { count }) => total + count, 0);
  return (
    <div class="exceptions">
      <div class="row toolbar">
        <TextInput
          type="search"
          aria-label="Search type, message, file"
          placeholder="Search type, message, file"
          value={text}
          onText={setText}
        />
        <span class="small muted" role="status">
          {`${data.complete ? "" : "At least "}${counted(sum, "event")} in ${counted(found.length, "group")}`}
          {data.others > 0 && `, ${counted(data.others, "event")} of further groups`}
        </span>
      </div>
      <Scrolled label="Exceptions by fingerprint">
        <Table
          class="exceptions-table"
          columns={["Exception", ["Events", "number"], ["Persons", "number"], ["First", "number"], ["Last", "number"]]}
        >
          {found.slice(0, mostShown).map((it) => (
            <Group key={it.id} group={it} />
          ))}
        </Table>
      </Scrolled>
      {found.length === 0 && <p class="muted exceptions-note">No exception has this text.</p>}
      {found.length > mostShown && (
        <p class="muted exceptions-note">The latest {mostShown} are shown; search for others.</p>
      )}
      <p class="small muted exceptions-note">
        Equal are exceptions with the same fingerprint, else with equal types, messages (numbers and ids aside) and
        frames of the app.
      </p>
    </div>
  );
}
