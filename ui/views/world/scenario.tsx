import { useEffect } from "preact/hooks";
import { info, loadInfo } from "../../app/sim.ts";
import { stat } from "../../feed/socket.ts";
import { Badge, Code, Facts, Section } from "../../parts/basics.tsx";
import { counted, plain } from "../../parts/text.ts";

/** Which scenario the world was made from, and what is wrong with its files now. */
export function Scenario() {
  const count = stat.value?.scenario_problems ?? 0;
  useEffect(() => void loadInfo(), [count]);
  const sim = info.value;
  if (!sim) return null;
  const mistakes = sim.scenario_problems;
  return (
    <>
      <Section title="Scenario">
        <Facts
          rows={[
            ["Name", plain(sim.scenario)],
            ["Data", sim.data === null ? "in memory; gone when the sim stops" : plain(sim.data)],
          ]}
        />
      </Section>
      {mistakes.length === 0 ? (
        <Section title="No mistakes">
          <p class="world-lead">
            Edit a scenario file while the sim runs: what changed in it changes here, and captured events
            stay.
          </p>
          <Code
            label="In a terminal"
            text={
              "phx-sim scenario init shop.json\nphx-sim scenario check shop.json\nphx-sim start shop.json"
            }
          />
        </Section>
      ) : (
        <Section title={counted(mistakes.length, "mistake")}>
          <p class="world-lead">The last good scenario stays in force until they are mended.</p>
          <ol class="world-mistakes">
            {mistakes.map((it) => (
              <li key={`${it.file}:${it.line}:${it.column}:${it.pointer}`}>
                <Badge tone="bad">{plain(it.message)}</Badge>
                <code>
                  {plain(
                    [it.file ?? "scenario", it.line, it.column].filter((part) => part !== null).join(":"),
                  )}
                </code>
                <code class="muted">{plain(it.pointer)}</code>
                {it.hint !== null && <span class="muted">{plain(it.hint)}</span>}
              </li>
            ))}
          </ol>
        </Section>
      )}
    </>
  );
}
