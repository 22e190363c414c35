import { addressStep } from "../../../src/base/text.ts";
import type { FlagDecisions as Decisions } from "../../../src/flags/decision-shapes.ts";
import type { FlagInFull } from "../../../src/flags/shapes.ts";
import { termText } from "../../../src/journal/filter/print.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link, route, withParams } from "../../app/location.ts";
import { projectName, revision, worldRevision } from "../../app/sim.ts";
import { Badge, Empty, Section, Trouble } from "../../parts/basics.tsx";
import { Shares } from "../../parts/flag-trace/shares.tsx";
import { Tabs } from "../../parts/layout.tsx";
import { plain } from "../../parts/text.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { DecisionsTab } from "./decisions.tsx";
import { ExplainTab } from "./explain.tsx";
import { OverridesTab } from "./overrides.tsx";

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
      {tab === "rules" && <RulesTab flag={flag} />}
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

const longest = 2_000;

function Sentences({ lines }: { lines: readonly string[] }) {
  return lines.map((it, i) => <p key={i}>{plain(it, longest)}</p>);
}

/** Rules in words and as JSON. */
function RulesTab({ flag }: { flag: FlagInFull }) {
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
      <Section title="Rules" actions={<a href={usesHref(flag.key)}>$feature_flag_called events</a>}>
        <div class="stack flags-words">
          <Sentences lines={words.before} />
          {words.sets.length > 0 && (
            <ol>
              {words.sets.map((it, i) => (
                <li key={i}>{plain(it, longest)}</li>
              ))}
            </ol>
          )}
          <Sentences lines={words.after} />
          {flag.shares.length > 0 && <Shares shares={flag.shares} hasLegend />}
          {words.cohorts.length > 0 && (
            <div class="muted">
              <Sentences lines={words.cohorts} />
            </div>
          )}
        </div>
      </Section>
      {filters && (
        <Section title="As JSON">
          <PayloadTree value={filters} label="Filters" open={6} />
        </Section>
      )}
    </>
  );
}

/** The `$feature_flag_called` events of a flag. */
const usesHref = (key: string): string =>
  link("events", [], { f: `event:$feature_flag_called ${termText(["prop", "$feature_flag"], key)}` });
