import { useState } from "preact/hooks";
import type { Json } from "../../../src/kernel/base/json.ts";
import { fixFor } from "../../../src/kernel/http/rejection-fixes.ts";
import type { EventProblem, Problems, RequestProblem } from "../../../src/sim/problem-shapes.ts";
import { call, query } from "../../api/call.ts";
import { firstItem, projectKeyIn } from "../../api/project-key.ts";
import { useResource } from "../../api/resource.ts";
import { link, project } from "../../app/location.ts";
import { keyOfEvents, keyOfRequests } from "../../app/seen-problems.ts";
import { figureText, info } from "../../app/sim.ts";
import { Button, Facts } from "../../parts/basics.tsx";
import { counted, explained, numberText, plain } from "../../parts/text.ts";
import { Card } from "./card.tsx";
import { Finding } from "./finding.tsx";
import { rejectionTitle } from "./rejection-titles.ts";

/** Shown at first, and at all: the sim lists at most 500 kinds. */
const shownFirst = 6;
const mostShown = 100;

interface ProblemsProps {
  problems: Problems;
  /** Keys of those that were not seen before. */
  fresh: ReadonlySet<string>;
  reload(): void;
}

/** Why events and requests are lost; problems persist until cleared, even if the events are gone. */
export function WhatIsLost({ problems, fresh, reload }: ProblemsProps) {
  const [isLong, setLong] = useState(false);
  const { events, requests, other_requests: others, complete } = problems;
  // what loses data comes first
  const dropped = events.filter((it) => it.dropped > 0);
  const warned = events.filter((it) => it.dropped === 0);
  const rows = [
    ...dropped.map((it) => <OfEvents key={it.code} problem={it} isExact={complete} fresh={fresh} />),
    ...requests.map((it) => <OfRequests key={it.last} problem={it} isExact={complete} fresh={fresh} />),
    ...warned.map((it) => <OfEvents key={it.code} problem={it} isExact={complete} fresh={fresh} />),
  ];
  if (rows.length === 0) return null;
  const clear = async () => {
    await call("DELETE", `problems${query({ project: project.value })}`);
    reload();
  };
  const shown = rows.slice(0, isLong ? mostShown : shownFirst);
  const hidden = rows.length - shown.length;
  return (
    <Card
      title="What is lost, and why"
      actions={
        <>
          {events.length > 0 && <a href={link("events", [], { f: "is:dropped,warned" })}>Events</a>}
          {requests.length > 0 && <a href={link("requests", [], { f: "is:rejected" })}>Requests</a>}
          <Button kind="quiet" onClick={clear} title="New problems still appear here; events and requests stay">
            Clear problems
          </Button>
        </>
      }
    >
      <ul class="start-findings">{shown}</ul>
      {hidden > 0 && !isLong && (
        <Button kind="quiet" onClick={() => setLong(true)}>
          Show {counted(Math.min(rows.length, mostShown) - shown.length, "further problem")}
        </Button>
      )}
      {hidden > 0 && isLong && <p class="muted">and {counted(hidden, "further problem")}</p>}
      {others > 0 && <p class="muted">and {counted(others, "rejected request")} more</p>}
    </Card>
  );
}

interface OneProps<Problem> {
  problem: Problem;
  isExact: boolean;
  fresh: ReadonlySet<string>;
}

function OfEvents({ problem: { code, count, dropped, last }, isExact, fresh }: OneProps<EventProblem>) {
  const { sentence, fix } = explained(code);
  return (
    <Finding
      of={dropped > 0 ? "dropped" : "warned"}
      title={plain(sentence, 200)}
      count={`${figureText(count, isExact)} ${count === 1 ? "event" : "events"}`}
      isNew={fresh.has(keyOfEvents(code))}
      fix={fix}
    >
      <code>{plain(code, 80)}</code> ·{" "}
      {count > 1 && (
        <>
          <a href={link("events", [], { f: `reason:${code}` })}>all of them</a> · the last:{" "}
        </>
      )}
      <a href={link("events", [last])}>event {numberText(last)}</a>
    </Finding>
  );
}

const ofKeys = /api_key|api_token|_token|not_authenticated|authentication_failed/;

function OfRequests({ problem, isExact, fresh }: OneProps<RequestProblem>) {
  const { reason, detail, hint, count, last: n, what, status } = problem;
  const path = plain(what, 100);
  const title = rejectionTitle(problem);
  const isSaid = status === 404 || title === detail;
  return (
    <Finding
      of="rejected"
      // backticks would become code
      title={plain(title, 200).replaceAll("`", "'")}
      count={isExact ? counted(count, "request") : `at least ${counted(count, "request")}`}
      isNew={fresh.has(keyOfRequests(problem))}
      fix={plain(hint ?? fixFor(reason, info.value?.project_api_key ?? ""), 500).replace(/\.$/, "")}
    >
      <code>{plain(reason, 80)}</code> · {count > 1 && "the last: "}
      <a href={link("requests", [n])}>{`${path}, ${status}`}</a>
      {!isSaid && ` · ${plain(detail, 300)}`}
      {ofKeys.test(reason) && <Keys n={n} />}
    </Finding>
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
