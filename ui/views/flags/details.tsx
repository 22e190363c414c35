import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { route, withParams } from "../../app/location.ts";
import { projectName, revision, worldRevision } from "../../app/sim.ts";
import { Badge, Empty, Trouble } from "../../parts/basics.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { plain } from "../../parts/text.ts";
import type { Decisions, FlagInFull } from "./answers.ts";
import { DecisionsTab } from "./decisions.tsx";
import { ExplainTab } from "./explain.tsx";
import { OverridesTab } from "./overrides.tsx";
import { RulesTab } from "./rules.tsx";

const tabs = [
  { id: "rules", title: "Rules" },
  { id: "decisions", title: "Decisions" },
  { id: "explain", title: "Explain" },
  { id: "overrides", title: "Overrides" },
] as const;

const tabOf = (name: string | undefined) => tabs.find(({ id }) => id === name)?.id ?? "rules";

/** One flag: its rules, what clients were given, why, and what it is to be instead. */
export function FlagDetails({ flagKey, project, onChange }: DetailsProps) {
  const path = `flags/${encodeURIComponent(flagKey)}`;
  const found = useResource<FlagInFull>(`${path}${query({ project })}`, { revision: worldRevision.value });
  const decisions = useResource<Decisions>(`flag-decisions${query({ project, key: flagKey })}`, {
    revision: revision.value,
  });
  const changed = () => {
    found.reload();
    onChange();
  };
  const isMissing = found.problem?.code === "not_found";
  if (isMissing) return <NoFlag flagKey={flagKey} project={project} onChange={changed} />;
  const flag = found.data;
  if (!flag) return found.problem ? <Trouble problem={found.problem} /> : null;
  const tab = tabOf(route.value.params.tab);
  return (
    <>
      <DetailsHead flag={flag} />
      <Tabs
        label="About the flag"
        current={tab}
        tabs={tabs.map(({ id, title }) => ({
          id,
          title,
          href: withParams({ tab: id }),
          count: countOf(id, flag, decisions.data),
        }))}
      />
      {tab === "rules" && <RulesTab flag={flag} />}
      {tab === "decisions" && <DecisionsTab flag={flag} told={decisions.data} />}
      {tab === "explain" && <ExplainTab key={flag.key} flag={flag} />}
      {tab === "overrides" && <OverridesTab key={flag.key} target={flag} onChange={changed} />}
    </>
  );
}

interface DetailsProps {
  flagKey: string;
  project: number | undefined;
  onChange(): void;
}

function countOf(tab: string, flag: FlagInFull, told: Decisions | undefined): string | undefined {
  if (tab === "overrides" && flag.overrides.length > 0) return String(flag.overrides.length);
  if (tab !== "decisions" || !told || told.decisions.length === 0) return undefined;
  return `${told.decisions.length}${told.before === null ? "" : "+"}`;
}

function DetailsHead({ flag }: { flag: FlagInFull }) {
  return (
    <header class="flags-head">
      <h2>{plain(flag.key, 200)}</h2>
      <FlagBadges flag={flag} />
      {flag.name !== "" && <p class="muted">{plain(flag.name, 300)}</p>}
      <p class="muted">
        {projectName(flag.project)}
        {flag.id === null ? "" : `, flag ${flag.id}`}
      </p>
    </header>
  );
}

/** On or off, and whether somebody has said otherwise; in brief, only what is out of the ordinary. */
export function FlagBadges({ flag, isBrief = false }: BadgesProps) {
  return (
    <span class="flags-badges">
      {flag.id === null ? (
        <Badge tone="odd">no such flag</Badge>
      ) : (
        !(isBrief && flag.active) && (
          <Badge tone={flag.active ? "good" : "plain"}>{flag.active ? "active" : "inactive"}</Badge>
        )
      )}
      {flag.overrides.length > 0 && <Badge tone="note">overridden</Badge>}
    </span>
  );
}

interface BadgesProps {
  flag: Pick<FlagInFull, "id" | "active" | "overrides">;
  isBrief?: boolean;
}

/** A key that no flag has can be overridden, too. */
function NoFlag({ flagKey, project, onChange }: DetailsProps) {
  return (
    <>
      <Empty title={`There is no flag "${plain(flagKey, 100)}"`}>
        <p>An override makes one for clients, until it is removed or the sim is reset.</p>
      </Empty>
      <OverridesTab target={{ key: flagKey, project, variants: [], overrides: [] }} onChange={onChange} />
    </>
  );
}
