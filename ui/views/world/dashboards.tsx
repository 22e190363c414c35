import type { DashboardSummaries, DashboardSummary } from "../../../src/management/world-shapes.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { go, link, project, route } from "../../app/location.ts";
import { numberIn } from "../../app/route.ts";
import { projectName, worldRevision } from "../../app/sim.ts";
import { Badge, Code, Empty, Section, Trouble } from "../../parts/basics.tsx";
import { Pages } from "../../parts/layout.tsx";
import { counted, plain } from "../../parts/text.ts";
import { boardOf, type Placed } from "./tile-layout.ts";

const pageSize = 50;

/** Offset of a page; invalid ones become 0. */
const pageStart = (from: string | undefined): number => {
  const given = numberIn(from) ?? 0;
  return given - (given % pageSize);
};

/** Dashboards with the layout of their tiles. */
export function DashboardsTab() {
  const offset = pageStart(route.value.params.from);
  const path = `world/dashboards${query({ project: project.value, limit: pageSize, offset })}`;
  const { data, problem } = useResource<DashboardSummaries>(path, { revision: worldRevision.value });
  if (problem) return <Trouble problem={problem} />;
  if (!data) return null;
  if (data.count === 0) return <NoDashboards />;
  if (data.dashboards.length === 0) return <PastTheEnd count={data.count} />;
  const pages = (
    <Pages
      offset={offset}
      size={pageSize}
      total={data.count}
      hasMore={offset + pageSize < data.count}
      onTurn={(to) => go(link("world", ["dashboards"], { from: to > 0 ? to : undefined }))}
    />
  );
  return (
    <Section title={counted(data.count, "dashboard")} actions={pages}>
      <div class="cards world-boards">
        {data.dashboards.map((it) => (
          <Board key={it.id} dashboard={it} />
        ))}
      </div>
    </Section>
  );
}

const PastTheEnd = ({ count }: { count: number }) => (
  <Empty title={`There are only ${counted(count, "dashboard")}`}>
    <a href={link("world", ["dashboards"])}>Show the first ones</a>
  </Empty>
);

function Board({ dashboard }: { dashboard: DashboardSummary }) {
  const { id, name, description, pinned, tags, restricted, collaborators, shared } = dashboard;
  return (
    <article class="stack card world-card" aria-label={`Dashboard ${plain(name ?? "")}`}>
      <header class="row row-base">
        <h3>{plain(name ?? "") || "(no name)"}</h3>
        <span class="muted">
          #{id} · {plain(projectName(dashboard.project))}
        </span>
        {pinned && <Badge>pinned</Badge>}
        {shared && <Badge tone="odd">shared</Badge>}
        {restricted && (
          <Badge
            tone="note"
            title={`May be edited by ${collaborators.map((it) => plain(it)).join(", ") || "its owner"}`}
          >
            restricted
          </Badge>
        )}
        {tags.map((tag) => (
          <Badge key={tag}>{plain(tag)}</Badge>
        ))}
      </header>
      {description !== "" && <p class="muted">{plain(description)}</p>}
      <Tiles placed={boardOf(dashboard.tiles)} />
    </article>
  );
}

function Tiles({ placed }: { placed: readonly Placed[] }) {
  if (placed.length === 0) return <p class="muted">no tiles</p>;
  return (
    <ul class="world-tiles">
      {placed.map(({ tile, column, row }) => (
        <li
          key={tile.id}
          class={`world-tile world-tile-${tile.kind}`}
          style={{ gridColumn: column, gridRow: row }}
        >
          <span class="muted world-kind">{tile.kind}</span>
          <span class="small">{plain(tile.title, 200) || "(no name)"}</span>
        </li>
      ))}
    </ul>
  );
}

function NoDashboards() {
  return (
    <Empty title="No dashboards">
      <p>Create one with the management API, or write them into a scenario file.</p>
      <Code
        label="In a scenario file, at the top or in a project"
        text={'"dashboards": [\n  { "name": "Sales", "tiles": [{ "text": "How we are doing" }] }\n]'}
      />
    </Empty>
  );
}
