import type { DashboardSummaries, DashboardSummary } from "../../../src/service/management/world-shapes.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { go, link, project, route } from "../../app/location.ts";
import { numberIn } from "../../app/route.ts";
import { projectName, worldRevision } from "../../app/sim.ts";
import { Badge, Code, Empty, Section, Trouble } from "../../parts/basics.tsx";
import { Pages } from "../../parts/layout.tsx";
import { counted, plain } from "../../parts/text.ts";

const pageSize = 50;

/** Offset of a page; invalid ones become 0. */
const pageStart = (from: string | undefined): number => {
  const given = numberIn(from) ?? 0;
  return given - (given % pageSize);
};

/** The dashboards of the project, or of all. */
export function DashboardList() {
  const offset = pageStart(route.value.params.from);
  const path = `world/dashboards${query({ project: project.value, limit: pageSize, offset })}`;
  const { data, problem } = useResource<DashboardSummaries>(path, { revision: worldRevision.value });
  if (problem) return <Trouble problem={problem} />;
  if (!data) return null;
  if (data.count === 0) return <NoDashboards />;
  return (
    <Section
      title={counted(data.count, "dashboard")}
      actions={
        <span class="row">
          <Pages
            offset={offset}
            size={pageSize}
            total={data.count}
            hasMore={offset + pageSize < data.count}
            onTurn={(to) => go(link("dashboards", [], { from: to > 0 ? to : undefined }))}
          />
          <a class="button" href={link("dashboards", ["new"])}>
            New insight
          </a>
        </span>
      }
    >
      {data.dashboards.length === 0 ? (
        <a href={link("dashboards")}>Show the first ones</a>
      ) : (
        <ul class="cards">
          {data.dashboards.map((it) => (
            <li key={it.id}>
              <DashboardCard dashboard={it} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function DashboardCard({ dashboard }: { dashboard: DashboardSummary }) {
  const { id, name, description, tags, tiles } = dashboard;
  const title = plain(name ?? "") || "(no name)";
  const titles = tiles.filter((it) => it.kind === "insight").map((it) => plain(it.title, 80) || "(no name)");
  return (
    <article class="stack card" aria-label={`Dashboard ${title}`}>
      <header class="row row-base">
        <h3>
          <a href={link("dashboards", [id])}>{title}</a>
        </h3>
        <span class="muted">
          #{id} · {plain(projectName(dashboard.project))}
        </span>
        <DashboardBadges of={dashboard} />
        {tags.map((tag) => (
          <Badge key={tag}>{plain(tag)}</Badge>
        ))}
      </header>
      {description !== "" && <p class="muted">{plain(description)}</p>}
      <p class="small">{titles.length === 0 ? "no insights" : titles.join(" · ")}</p>
    </article>
  );
}

/** Pinned, shared, restricted. */
export const DashboardBadges = ({ of }: { of: Pick<DashboardSummary, "pinned" | "shared" | "restricted"> }) => (
  <>
    {of.pinned && <Badge>pinned</Badge>}
    {of.shared && <Badge tone="odd">shared</Badge>}
    {of.restricted && (
      <Badge tone="note" title="Its owner, its collaborators and admins may edit it">
        restricted
      </Badge>
    )}
  </>
);

function NoDashboards() {
  return (
    <Empty title="No dashboards">
      <p>
        <a href={link("dashboards", ["new"])}>Make an insight</a> here, or from a filter in{" "}
        <a href={link("events")}>Events</a>. The management API and scenario files make dashboards, too.
      </p>
      <Code
        label="In a scenario file, at the top or in a project"
        text={
          '"insights": [{ "name": "Orders", "query": { "kind": "InsightVizNode", "source": { "kind": "TrendsQuery",\n  "series": [{ "kind": "EventsNode", "event": "order_completed" }] } } }],\n"dashboards": [{ "name": "Sales", "tiles": [{ "text": "## How we are doing" }, { "insight": "Orders" }] }]'
        }
      />
    </Empty>
  );
}
