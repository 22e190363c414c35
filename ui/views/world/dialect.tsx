import type { ShownWorld } from "../../../src/control/world/types.ts";
import { Badge, Scrolled, Section } from "../../parts/basics.tsx";
import { Prose } from "../../parts/prose.tsx";

const names = { documented: "Documented", production: "Production" } as const;

/** Where the contract and the live service differ, and which of the two is followed here. */
export function Dialect({ dialect }: { dialect: ShownWorld["dialect"] }) {
  const { current, differences } = dialect;
  const other = current === "documented" ? "production" : "documented";
  const sides = Object.keys(names) as (keyof typeof names)[];
  return (
    <Section title={`The ${current} dialect is in force`}>
      <p class="world-lead">
        <Prose
          text={`\`documented\` does what the contract says; \`production\` what the live service does. Start with \`--dialect ${other}\` for the other one.`}
        />
      </p>
      <Scrolled label="Differences of the dialects">
        <table class="table world-dialect">
          <thead>
            <tr>
              <th scope="col">What</th>
              {sides.map((side) => (
                <th scope="col" key={side}>
                  {names[side]} {side === current && <Badge tone="accent">in force</Badge>}
                </th>
              ))}
              <th scope="col">Source</th>
            </tr>
          </thead>
          <tbody>
            {differences.map((row) => (
              <tr key={row.id} id={`dialect-${row.id}`}>
                <th scope="row">
                  <Prose text={row.topic} />
                </th>
                {sides.map((side) => (
                  <td key={side} class={side === current ? "world-current" : "muted"}>
                    <Prose text={row[side]} />
                  </td>
                ))}
                <td class="muted">{row.source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </Section>
  );
}
