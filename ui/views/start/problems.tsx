import type { ComponentChildren } from "preact";
import type { EventProblem } from "../../../src/control/problems-answer.ts";
import { type DropReason, dropReasons, explain, type Warning, warnings } from "../../../src/model/outcome.ts";
import { call, query } from "../../api/call.ts";
import { link, project } from "../../app/location.ts";
import { figureText, useProblems } from "../../app/totals.ts";
import { Button, Section } from "../../parts/basics.tsx";
import { OutcomeBadge } from "../../parts/outcome.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Refused } from "./refused.tsx";
import { ToDo } from "./to-do.tsx";

const shownReasons = 6;

/** What went wrong, until a person clears it: it stays when the page is loaded again, and when memory lets go of events. */
export function ProblemsFound({ isAll }: { isAll: boolean }) {
  const { data, reload } = useProblems(project.value);
  if (!data || data.events.length + data.requests.length === 0) return null;
  const clear = async () => {
    await call("DELETE", `problems${query({ project: project.value })}`);
    reload();
  };
  const clearing = (
    <Button onClick={clear} title="Problems found from now on appear here again; events and requests stay">
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

const isReason = (code: string): code is DropReason | Warning =>
  Object.hasOwn(dropReasons, code) || Object.hasOwn(warnings, code);

interface ReasonsProps {
  problems: readonly EventProblem[];
  isExact: boolean;
  actions: ComponentChildren;
}

function Reasons({ problems, isExact, actions }: ReasonsProps) {
  return (
    <Section title="Problems found" actions={actions}>
      <ul class="start-problems">
        {problems.slice(0, shownReasons).map(({ code, count, dropped }) => {
          const said = isReason(code) ? explain(code) : undefined;
          return (
            <li key={code}>
              <p>
                <OutcomeBadge of={dropped > 0 ? "dropped" : "warned"} code={code} />{" "}
                <Prose text={said?.sentence ?? ""} />
              </p>
              {said && <ToDo text={said.fix} />}
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
