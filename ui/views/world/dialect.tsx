import type { WorldSummary } from "../../../src/management/world-shapes.ts";
import { Badge, Prose, Scrolled, Section } from "../../parts/basics.tsx";
import { Table } from "../../parts/layout.tsx";

const names = { documented: "Documented", production: "Production" } as const;

/** Differences between the contract and the live service, and the current dialect. */
export function Dialect({ dialect }: { dialect: WorldSummary["dialect"] }) {
  const { current, differences } = dialect;
  const other = current === "documented" ? "production" : "documented";
  const sides = Object.keys(names) as (keyof typeof names)[];
  return (
    <Section title={`The ${current} dialect is active`}>
      <p class="lead">
        <Prose
          text={`\`documented\` follows the contract, \`production\` the live service. Start with \`--dialect ${other}\` to switch.`}
        />
      </p>
      <Scrolled label="Differences of the dialects">
        <Table
          class="world-dialect"
          columns={[
            "What",
            ...sides.map((side) => (
              <span key={side}>
                {names[side]} {side === current && <Badge tone="accent">active</Badge>}
              </span>
            )),
            "Source",
          ]}
        >
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
        </Table>
      </Scrolled>
    </Section>
  );
}
