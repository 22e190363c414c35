import type { WorldSummary } from "../../../src/service/management/world-shapes.ts";
import { useResource } from "../../api/resource.ts";
import { link, route } from "../../app/location.ts";
import { info, worldRevision } from "../../app/sim.ts";
import { Badge, Empty, Prose, Scrolled, Section, Trouble } from "../../parts/basics.tsx";
import { Table, Tabs } from "../../parts/layout.tsx";
import { Accounts, Keys } from "./accounts.tsx";
import { Scenario } from "./scenario.tsx";

const parts = [
  { id: "", title: "Accounts" },
  { id: "keys", title: "Keys" },
  { id: "dialect", title: "Dialect" },
  { id: "scenario", title: "Scenario" },
] as const;

type PartId = (typeof parts)[number]["id"];

/** The world: accounts, keys, dialect and scenario. */
export function WorldView() {
  const revision = worldRevision.value;
  const { data, problem } = useResource<WorldSummary>("world", { revision });
  const given = route.value.path[0] ?? "";
  const current = parts.find(({ id }) => id === given)?.id;
  return (
    <div class="world">
      <Tabs label="World" current={given} tabs={parts.map((it) => tabOf(it, data))} />
      {problem && <Trouble problem={problem} />}
      {current === undefined ? (
        <Empty title="Page not found" />
      ) : (
        data && <div class="world-part">{partOf(current, data)}</div>
      )}
    </div>
  );
}

function tabOf({ id, title }: (typeof parts)[number], world: WorldSummary | undefined) {
  const problems = info.value?.scenario_problems.length ?? 0;
  const counts: Readonly<Partial<Record<PartId, number>>> = {
    keys: world?.personal_api_keys.length,
    dialect: world?.dialect.differences.length,
    ...(problems > 0 && { scenario: problems }),
  };
  return { id, title, href: link("world", id === "" ? [] : [id]), count: counts[id] };
}

function partOf(id: PartId, world: WorldSummary) {
  if (id === "keys") return <Keys world={world} />;
  if (id === "dialect") return <Dialect dialect={world.dialect} />;
  if (id === "scenario") return <Scenario />;
  return <Accounts organizations={world.organizations} />;
}

const names = { documented: "Documented", production: "Production" } as const;

/** Differences between the contract and the live service, and the current dialect. */
function Dialect({ dialect }: { dialect: WorldSummary["dialect"] }) {
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
