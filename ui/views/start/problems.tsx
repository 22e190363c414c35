import type { ComponentChildren } from "preact";
import type { Json } from "../../../src/base/json.ts";
import { fixFor } from "../../../src/http/rejection-fixes.ts";
import type { EventProblem, Problems, RequestProblem } from "../../../src/sim/problem-shapes.ts";
import { call, query } from "../../api/call.ts";
import { firstItem, projectKeyIn } from "../../api/project-key.ts";
import { useResource } from "../../api/resource.ts";
import { link, project } from "../../app/location.ts";
import { figureText, info, useProblems } from "../../app/sim.ts";
import { Button, Facts, Prose, Section } from "../../parts/basics.tsx";
import { Fix, OutcomeBadge } from "../../parts/outcome.tsx";
import { counted, explained, plain } from "../../parts/text.ts";

const shownReasons = 6;

/** Problems found; they persist until cleared, even if the events are gone. */
export function ProblemsFound({ isAll }: { isAll: boolean }) {
  const { data, reload } = useProblems(project.value);
  if (!data || data.events.length + data.requests.length === 0) return null;
  const clear = async () => {
    await call("DELETE", `problems${query({ project: project.value })}`);
    reload();
  };
  const clearing = (
    <Button onClick={clear} title="New problems still appear here; events and requests stay">
      Clear problems
    </Button>
  );
  const hasEvents = data.events.length > 0;
  return (
    <>
      {hasEvents && <Reasons problems={data.events} isExact={data.complete} actions={clearing} />}
      <Refused problems={data} isAll={isAll} actions={hasEvents ? undefined : clearing} />
    </>
  );
}

interface ReasonsProps {
  problems: readonly EventProblem[];
  isExact: boolean;
  actions: ComponentChildren;
}

function Reasons({ problems, isExact, actions }: ReasonsProps) {
  return (
    <Section title="Problems found" actions={actions}>
      <ul class="stack stack-loose">
        {problems.slice(0, shownReasons).map(({ code, count, dropped }) => {
          const { sentence, fix } = explained(code);
          return (
            <li key={code} class="stack stack-tight aside">
              <p>
                <OutcomeBadge of={dropped > 0 ? "dropped" : "warned"} code={code} /> <Prose text={sentence} />
              </p>
              <Fix class="muted" text={fix} />
              <p>
                <a href={link("events", [], { f: `reason:${code}` })}>
                  {`${figureText(count, isExact)} ${count === 1 ? "event" : "events"}`}
                </a>
              </p>
            </li>
          );
        })}
      </ul>
      {problems.length > shownReasons && <p class="muted">{`and ${problems.length - shownReasons} more`}</p>}
    </Section>
  );
}

const shownRejections = 5;

interface RefusedProps {
  problems: Problems;
  isAll: boolean;
  actions: ComponentChildren;
}

/** Rejected requests by reason, with fixes. */
function Refused({ problems: { requests, other_requests, complete }, isAll, actions }: RefusedProps) {
  if (requests.length === 0) return null;
  const more = requests.slice(shownRejections).reduce((sum, { count }) => sum + count, other_requests);
  return (
    <Section
      title={isAll ? "Requests arrive, but all are rejected" : "Rejected requests"}
      actions={
        <>
          <a href={link("requests", [], { f: "is:rejected" })}>All rejected requests</a> {actions}
        </>
      }
    >
      <ul class="stack stack-loose">
        {requests.slice(0, shownRejections).map((it) => (
          <Reason key={it.last} problem={it} isExact={complete} />
        ))}
      </ul>
      {more > 0 && (
        <p class="muted">{`and ${figureText(more, complete)} ${more === 1 ? "request" : "requests"} more`}</p>
      )}
    </Section>
  );
}

const ofKeys = /api_key|api_token|_token|not_authenticated|authentication_failed/;

function Reason({ problem, isExact }: { problem: RequestProblem; isExact: boolean }) {
  const { reason, detail, hint, count, last: n, what, status } = problem;
  const fix = plain(hint ?? fixFor(reason, info.value?.project_api_key ?? ""), 500);
  return (
    <li class="stack stack-tight aside">
      <p>
        <OutcomeBadge of="rejected" code={reason} /> {plain(detail, 200)}
      </p>
      <Fix class="muted" text={fix} />
      {ofKeys.test(reason) && <Keys n={n} />}
      <p>
        <a href={link("requests", [n])}>
          {count === 1 && isExact
            ? `${plain(what, 100)}, ${status}`
            : `${isExact ? "" : "at least "}${counted(count, "request")}, the last: ${plain(what, 100)}`}
        </a>
      </p>
    </li>
  );
}

function Keys({ n }: { n: number }) {
  const { data } = useResource<{ body: Json }>(`requests/${n}`);
  const received = projectKeyIn(data?.body) ?? projectKeyIn(firstItem(data?.body));
  const known = info.value?.projects ?? [];
  return (
    <Facts
      rows={{
        "Received key": received === undefined ? "none found" : <code>{plain(received, 80)}</code>,
        "Known keys": known.slice(0, 5).map(({ id, name, api_key }) => (
          <div key={id}>
            <code>{plain(api_key, 80)}</code> <span class="muted">{plain(name, 60)}</span>
          </div>
        )),
      }}
    />
  );
}
