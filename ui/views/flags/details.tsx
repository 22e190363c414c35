import { addressStep } from "../../../src/kernel/base/text.ts";
import type { FlagDecisions as Decisions, FlagSeen } from "../../../src/service/flags/decision-shapes.ts";
import type { FlagInFull } from "../../../src/service/flags/shapes.ts";
import { termText } from "../../../src/state/journal/filter/print.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link, route, withParams } from "../../app/location.ts";
import { projectName, revision, worldRevision } from "../../app/sim.ts";
import { Badge, Empty, Section, Time, Trouble } from "../../parts/basics.tsx";
import { Tabs } from "../../parts/layout.tsx";
import { counted, plain } from "../../parts/text.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { DecisionsTab } from "./decisions.tsx";
import { ExplainTab } from "./explain.tsx";
import { OverridesTab } from "./overrides.tsx";
import { ActiveOverrides, AskWhy, RecentDecisions } from "./recent.tsx";
import { Rollout, useSeen, VariantSplit, WhoGets } from "./seen.tsx";

const tabs = [
  { id: "rules", title: "Rules" },
  { id: "decisions", title: "Decisions" },
  { id: "explain", title: "Explain" },
  { id: "overrides", title: "Overrides" },
] as const;

const tabOf = (name: string | undefined) => tabs.find(({ id }) => id === name)?.id ?? "rules";

/** Details of a flag: rules, decisions, explanation and overrides. */
export function FlagDetails({ flagKey, project, onChange }: DetailsProps) {
  const path = `flags/${addressStep(flagKey)}`;
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
      {tab === "rules" && <RulesTab key={flag.key} flag={flag} decisions={decisions.data} />}
      {tab === "decisions" && <DecisionsTab flag={flag} loaded={decisions.data} />}
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

function countOf(tab: string, flag: FlagInFull, decisions: Decisions | undefined): string | undefined {
  if (tab === "overrides" && flag.overrides.length > 0) return String(flag.overrides.length);
  if (tab !== "decisions" || !decisions || decisions.decisions.length === 0) return undefined;
  return `${decisions.decisions.length}${decisions.before === null ? "" : "+"}`;
}

function DetailsHead({ flag }: { flag: FlagInFull }) {
  return (
    <header class="row row-wide flags-head">
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

/** State of a flag; in brief, only if unusual. */
export function FlagBadges({ flag, isBrief = false }: BadgesProps) {
  return (
    <span class="row row-tight">
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

/** A key without a flag can be overridden as well. */
function NoFlag({ flagKey, project, onChange }: DetailsProps) {
  return (
    <>
      <Empty title={`There is no flag "${plain(flagKey, 100)}"`}>
        <p>An override creates it for clients, until it is removed or the sim is reset.</p>
      </Empty>
      <OverridesTab target={{ key: flagKey, project, variants: [], overrides: [] }} onChange={onChange} />
    </>
  );
}

/** Rules in words with what they gave to the ids seen, the newest decisions, overrides, and the rules as JSON. */
function RulesTab({ flag, decisions }: { flag: FlagInFull; decisions: Decisions | undefined }) {
  const seen = useSeen(flag);
  const { words, filters } = flag;
  if (!words) {
    return (
      <Section title="No such flag">
        <p class="muted">The project has no flag with this key. Clients get it from an override.</p>
      </Section>
    );
  }
  return (
    <>
      <div class="flags-page">
        <p class="row row-wide small muted">
          <Asked seen={seen} />
          <a class="end" href={usesHref(flag.key)}>
            $feature_flag_called events
          </a>
        </p>
        <WhoGets flag={flag} seen={seen} />
        <div class="flags-pair">
          <div class="stack">
            <Rollout seen={seen} />
            <RecentDecisions flag={flag} loaded={decisions} />
          </div>
          <div class="stack">
            <VariantSplit seen={seen} />
            <AskWhy />
            <ActiveOverrides flag={flag} />
          </div>
        </div>
      </div>
      {filters && (
        <Section title="As JSON">
          <PayloadTree value={filters} label="Filters" open={3} />
        </Section>
      )}
    </>
  );
}

/** How many ids clients asked for. */
function Asked({ seen }: { seen: FlagSeen | undefined }) {
  if (!seen) return null;
  if (seen.asked === 0)
    return <span>No client has asked for it{seen.ids > 0 && "; its rules are counted for the ids of events"}.</span>;
  return (
    <span>
      asked for {counted(seen.asked, "id")}
      {seen.last_asked !== null && (
        <>
          , last at <Time at={seen.last_asked} />
        </>
      )}
    </span>
  );
}

/** The `$feature_flag_called` events of a flag. */
const usesHref = (key: string): string =>
  link("events", [], { f: `event:$feature_flag_called ${termText(["prop", "$feature_flag"], key)}` });
