import { useMemo, useState } from "preact/hooks";
import type { DatedJoin, PersonTimeline as Timeline } from "../../../src/lab/person-history/shapes.ts";
import { link } from "../../app/location.ts";
import { Badge, Button, Prose, Time } from "../../parts/basics.tsx";
import { counted, explained, plain } from "../../parts/text.ts";
import { graphOf, type IdRow, lineHeight, type Note } from "./identity-layout.ts";
import { joinTexts } from "./words.ts";

/** Ids shown until expanded. */
const firstIds = 12;

const rem = (units: number): string => `${units / 16}rem`;

/** The initially shown ids; joined ones come first. */
function partOf({ person, joins }: Timeline, isWhole: boolean) {
  const all = graphOf(person.distinct_ids, joins);
  if (isWhole || all.rows.length <= firstIds + 3) return { graph: all, hidden: 0 };
  const shown = new Set(all.rows.slice(0, firstIds).map((it) => it.id));
  const within = joins.filter((it) => shown.has(it.other) && shown.has(it.into));
  const ids = person.distinct_ids.filter((it) => shown.has(it));
  return { graph: graphOf(ids, within), hidden: all.rows.length - firstIds };
}

/** The identity graph of a person: lines, and a list with the same content. */
export function IdentityGraph({ timeline }: { timeline: Timeline }) {
  const [isWhole, setWhole] = useState(false);
  const { graph, hidden } = useMemo(() => partOf(timeline, isWhole), [timeline, isWhole]);
  const { rows, lines, dots, tips, x, width, height } = graph;
  return (
    <>
      <div class="people-graph">
        <svg
          viewBox={`0 0 ${width} ${height}`}
          style={{ inlineSize: rem(width), blockSize: rem(height) }}
          aria-hidden="true"
        >
          {lines.map(({ key, path, outcome }) => (
            <path key={key} class={`people-line people-line-${outcome}`} d={path} />
          ))}
          {tips.map(({ key, path, isRefused }) => (
            <path key={key} class={isRefused ? "people-tip people-tip-refused" : "people-tip"} d={path} />
          ))}
          {dots.map(({ id, y, isForeign }) => (
            <circle key={id} class={isForeign ? "people-dot people-dot-foreign" : "people-dot"} cx={x} cy={y} r={4.5} />
          ))}
        </svg>
        <ol class="people-ids" aria-label="How the ids were merged">
          {rows.map((row) => (
            <IdEntry key={row.id} row={row} project={timeline.person.project} />
          ))}
        </ol>
      </div>
      {hidden > 0 && <Button onClick={() => setWhole(true)}>{`Show ${counted(hidden, "further id")}`}</Button>}
      <Refusals joins={timeline.joins} />
    </>
  );
}

function IdEntry({ row, project }: { row: IdRow; project: number }) {
  const { id, isForeign, notes, further, height } = row;
  const name = plain(id, 200);
  return (
    <li style={{ blockSize: rem(height) }}>
      <div class="people-id" style={{ blockSize: rem(lineHeight) }}>
        {isForeign ? (
          <a class="mono cut" href={link("people", [id], { in: project })} title={name}>
            {name}
          </a>
        ) : (
          <span class="mono cut" title={name}>
            {name}
          </span>
        )}
        {isForeign && <Badge>another person</Badge>}
      </div>
      {notes.map((note) => (
        <NoteLine key={`${note.join.seq}/${note.join.outcome}`} note={note} at={id} />
      ))}
      {further > 0 && <div class="people-note">{`and ${counted(further, "further join")}`}</div>}
    </li>
  );
}

function NoteLine({ note: { join, times }, at }: { note: Note; at: string }) {
  const { by, other, into, outcome, seq, timestamp } = join;
  const isRefused = outcome === "refused";
  const way = at === other ? `into ${plain(into, 60)}` : `from ${plain(other, 60)}`;
  return (
    <div class={isRefused ? "people-note bad" : "people-note"} style={{ blockSize: rem(lineHeight) }}>
      <a href={link("events", [seq])} class="mono">
        {by}
      </a>
      <span class="cut" title={`${way}: ${joinTexts[outcome]}`}>
        <span class="unseen">{way}: </span>
        {isRefused && <span aria-hidden="true">✕ </span>}
        {joinTexts[outcome]}
        {times > 1 && ` × ${times}`}
      </span>
      <Time at={timestamp} />
    </div>
  );
}

function Refusals({ joins }: { joins: readonly DatedJoin[] }) {
  const reasons = [...new Set(joins.flatMap((it) => it.reason ?? []))];
  if (reasons.length === 0) return null;
  return (
    <ul class="stack people-refusals">
      {reasons.map((reason) => {
        const { sentence, fix } = explained(reason);
        return (
          <li key={reason}>
            <Badge tone="bad">{reason}</Badge>
            <p>
              Refused: <Prose text={`${sentence}. Fix: ${fix}.`} />
            </p>
          </li>
        );
      })}
    </ul>
  );
}
