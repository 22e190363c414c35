import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { type Info, info, loadInfo } from "../../app/sim.ts";
import { stat } from "../../feed/socket.ts";
import { Badge, Code, Facts, Section } from "../../parts/basics.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";

export function Scenario() {
  const { scenario_problems: count = 0, scenario_edit: edit = null, damage = 0 } = stat.value ?? {};
  useEffect(() => void loadInfo(), [count, edit?.at, damage]);
  const sim = info.value;
  if (!sim) return null;
  const mistakes = sim.scenario_problems;
  return (
    <>
      <Section title="Scenario">
        <Facts
          rows={{
            Name: plain(sim.scenario),
            Data: sim.data === null ? "in memory; lost when the sim stops" : plain(sim.data),
          }}
        />
      </Section>
      {sim.damage_count > 0 && <DamagedData sim={sim} />}
      {mistakes.length === 0 ? (
        <Section title="No mistakes">
          <p class="lead">
            Edit a scenario file while the sim runs: changes apply immediately, and captured events stay.
          </p>
          <Code
            label="In a terminal"
            text={"phx-sim scenario init shop.json\nphx-sim scenario check shop.json\nphx-sim start shop.json"}
          />
        </Section>
      ) : (
        <Section title={counted(mistakes.length, "mistake")}>
          <p class="lead">The last valid scenario stays active until they are fixed.</p>
          <Problems list={mistakes} tone="bad" />
        </Section>
      )}
      {sim.scenario_warnings.length > 0 && (
        <Section title={counted(sim.scenario_warnings.length, "warning")}>
          <p class="lead">The scenario is active, but this part of it cannot work.</p>
          <Problems list={sim.scenario_warnings} tone="odd" />
        </Section>
      )}
      {sim.scenario_edit && <LastEdit edit={sim.scenario_edit} />}
    </>
  );
}

/** Maximum number of listed problems; `phx-sim scenario check` lists all. */
const mostShown = 200;

/** A list, and the number of further items. */
function Entries({ children, more, where = "" }: EntriesProps) {
  return (
    <>
      <ol class="stack stack-wide">{children}</ol>
      {more > 0 && <p class="muted">{`and ${numberText(more)} more${where}`}</p>}
    </>
  );
}

interface EntriesProps {
  children: ComponentChildren;
  more: number;
  /** Where the others are listed. */
  where?: string;
}

const placeText = (...parts: readonly (string | number | null)[]): string =>
  plain(parts.filter((it) => it !== null).join(":"));

function Problems({ list, tone }: { list: Info["scenario_problems"]; tone: "bad" | "odd" }) {
  return (
    <Entries more={list.length - mostShown} where="; phx-sim scenario check lists them">
      {list.slice(0, mostShown).map((it) => (
        <li key={`${it.file}:${it.line}:${it.column}:${it.pointer}`} class="world-mistake">
          <Badge tone={tone}>{plain(it.message)}</Badge>
          <code>{placeText(it.file ?? "scenario", it.line, it.column)}</code>
          <code class="muted">{plain(it.pointer)}</code>
          {it.hint !== null && <span class="muted">{plain(it.hint)}</span>}
        </li>
      ))}
    </Entries>
  );
}

function LastEdit({ edit }: { edit: NonNullable<Info["scenario_edit"]> }) {
  return (
    <Section title={`Last edit: ${new Date(edit.at).toLocaleTimeString()}`}>
      <Entries more={edit.count - edit.changes.length}>
        {edit.changes.map(({ change, kind, name, project }, i) => (
          <li key={i} class="world-mistake">
            <Badge tone={change === "removed" ? "odd" : "good"}>{`${kind} ${change}`}</Badge>
            {name !== null && <code>{plain(name)}</code>}
            {project !== null && <span class="muted">{plain(project)}</span>}
          </li>
        ))}
      </Entries>
    </Section>
  );
}

function DamagedData({ sim: { damage, damage_count: count } }: { sim: Info }) {
  return (
    <Section title={`Data folder: ${counted(count, "problem")}`}>
      <p class="lead">Damaged entries were skipped. Everything else in the data folder is intact.</p>
      <Entries more={count - damage.length} where="; phx-sim doctor --data lists them">
        {damage.map((it) => (
          <li key={`${it.file}:${it.line}:${it.detail}`} class="world-mistake">
            <Badge tone="bad">{plain(it.detail)}</Badge>
            <code>{placeText(it.file, it.line)}</code>
          </li>
        ))}
      </Entries>
    </Section>
  );
}
