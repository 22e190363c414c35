import type { ComponentChildren } from "preact";
import type { Problems, RequestProblem } from "../../../src/control/problems-answer.ts";
import type { Json } from "../../../src/kernel/json.ts";
import { fixFor } from "../../../src/kernel/rejection-fixes.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { info } from "../../app/sim.ts";
import { figureText } from "../../app/totals.ts";
import { Facts, Section } from "../../parts/basics.tsx";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { counted, plain } from "../../parts/text.ts";
import { keyIn } from "./refused.ts";
import { ToDo } from "./to-do.tsx";

const shownReasons = 5;

interface RefusedProps {
  problems: Problems;
  /** No event arrived at all. */
  isAll: boolean;
  /** Beside the link to all of them. */
  actions: ComponentChildren;
}

/** Why requests were refused, and what to do about it. */
export function Refused({ problems: { requests, other_requests, complete }, isAll, actions }: RefusedProps) {
  if (requests.length === 0) return null;
  const more = requests.slice(shownReasons).reduce((sum, { count }) => sum + count, other_requests);
  return (
    <Section
      title={isAll ? "Requests come, but every one is rejected" : "Rejected requests"}
      actions={
        <>
          <a href={link("requests", [], { f: "is:rejected" })}>All rejected requests</a> {actions}
        </>
      }
    >
      <ul class="start-problems">
        {requests.slice(0, shownReasons).map((it) => (
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
    <li>
      <p>
        <OutcomeBadge of="rejected" code={reason} /> {plain(detail, 200)}
      </p>
      {fix !== "" && <ToDo text={fix} />}
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

/** Which key came, and which ones are known. */
function Keys({ n }: { n: number }) {
  const { data } = useResource<{ body: Json }>(`requests/${n}`);
  const came = keyIn(data?.body);
  const known = info.value?.projects ?? [];
  return (
    <Facts
      rows={[
        ["Key that came", came === undefined ? "none that could be found" : <code>{plain(came, 80)}</code>],
        [
          "Keys that are known",
          known.slice(0, 5).map(({ id, name, api_key }) => (
            <div key={id}>
              <code>{plain(api_key, 80)}</code> <span class="muted">{plain(name, 60)}</span>
            </div>
          )),
        ],
      ]}
    />
  );
}
