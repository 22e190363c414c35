import { useEffect } from "preact/hooks";
import { info, loadInfo, type SimInfo } from "../../app/sim.ts";
import { stat } from "../../feed/socket.ts";
import { Badge, Code, Facts, Section } from "../../parts/basics.tsx";
import { counted, plain } from "../../parts/text.ts";

/** Which scenario the world was made from, and what is wrong with its files now. */
export function Scenario() {
  const { scenario_problems: count = 0, damage = 0 } = stat.value ?? {};
  useEffect(() => void loadInfo(), [count, damage]);
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
      {sim.damage_count > 0 && <DamagedData sim={sim} />}
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

/** What of the data folder cannot be read. */
function DamagedData({ sim: { damage, damage_count: count } }: { sim: SimInfo }) {
  const more = count - damage.length;
  return (
    <Section title={`Damaged data: ${counted(count, "place")}`}>
      <p class="world-lead">These entries were skipped. Everything else in the data folder is intact.</p>
      <ol class="world-mistakes">
        {damage.map((it) => (
          <li key={`${it.file}:${it.line}:${it.detail}`}>
            <Badge tone="bad">{plain(it.detail)}</Badge>
            <code>{plain([it.file, it.line].filter((part) => part !== null).join(":"))}</code>
          </li>
        ))}
      </ol>
      {more > 0 && <p class="muted">{`and ${more} more; phx-sim doctor --data lists them`}</p>}
    </Section>
  );
}
