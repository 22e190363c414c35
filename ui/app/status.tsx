import { type Outcome, outcomes } from "../../src/state/journal/outcomes.ts";
import { connection, stat } from "../feed/socket.ts";
import { Badge, Button } from "../parts/basics.tsx";
import { Icon } from "../parts/icon.tsx";
import { OutcomeSign } from "../parts/outcome.tsx";
import { numberText, plain, zoneText } from "../parts/text.ts";
import { go, link, project, withParams } from "./location.ts";
import { info, useTotals } from "./sim.ts";
import { clockSign, modeOf, type Sign } from "./status-texts.ts";
import { nextTheme, theme } from "./theme.ts";
import { views } from "./views.ts";

const connectionTexts = { live: "Live", connecting: "Connecting", lost: "Not connected" } as const;

export function Status({ onHelp }: { onHelp: () => void }) {
  const now = stat.value;
  const state = connection.value;
  const clock = now && clockSign(now);
  return (
    <header class="shell-status">
      <ProjectChoice />
      {now && (project.value === undefined ? <Figures now={now} /> : <OfProject id={project.value} />)}
      <div class="row end shell-end">
        {clock && <SignBadge sign={clock} />}
        {now && <SignBadge sign={modeOf(now)} />}
        <span role="status" data-connection={state}>
          <Badge tone={state === "live" ? "plain" : "odd"}>
            {state === "live" && <span class="shell-dot" />}
            {connectionTexts[state]}
          </Badge>
        </span>
        <span class="shell-zone muted">{zoneText(Date.now())}</span>
        <Button kind="quiet" class="shell-theme" onClick={nextTheme} title="Dark, light or system colours (T)">
          <Icon of="theme" />
          <span class="unseen">Colours: {theme.value}</span>
        </Button>
        <Button kind="quiet" onClick={onHelp} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">
          ?
        </Button>
      </div>
    </header>
  );
}

function SignBadge({ sign }: { sign: Sign }) {
  const badge = (
    <Badge tone={sign.tone} title={sign.title}>
      <span class="cut shell-sign">{sign.text}</span>
    </Badge>
  );
  if (!views.some(({ id }) => id === sign.view)) return badge;
  return (
    <a class="shell-sign-link" href={link(sign.view)}>
      {badge}
    </a>
  );
}

const totals = ["kept", "warned", "dropped", "rejected"] as const;
type Figures = Readonly<Record<(typeof totals)[number], number>>;

/** The sim counts warned events as kept, too; on the page each event has one outcome. */
const figuresOf = ({ kept, warned, ...others }: Figures): Figures => ({ ...others, kept: kept - warned, warned });

/** "Events: stored as sent". */
const titleOf = ({ of, means }: (typeof outcomes)[Outcome]): string =>
  `${of === "events" ? "Events" : "Requests"}: ${means}`;

function OfProject({ id }: { id: number }) {
  const totals = useTotals({ project: id });
  if (!totals) return null;
  const { events, requests } = totals;
  return <Figures now={{ ...events, rejected: requests.rejected }} />;
}

function Figures({ now }: { now: Figures }) {
  const figures = figuresOf(now);
  return (
    <div class="shell-totals">
      {totals.map((name) => (
        <span
          key={name}
          class={`shell-total ${figures[name] > 0 ? `outcome-${name}` : ""}`}
          title={titleOf(outcomes[name])}
        >
          <OutcomeSign of={name} /> <b>{numberText(figures[name])}</b> {name}
        </span>
      ))}
    </div>
  );
}

function ProjectChoice() {
  const projects = info.value?.projects ?? [];
  const chosen = project.value;
  const isKnown = chosen === undefined || projects.some(({ id }) => id === chosen);
  const choose = (value: string) => go(withParams({ project: value === "" ? undefined : value }));
  return (
    <select
      class="select shell-project"
      aria-label="Project"
      value={chosen ?? ""}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      <option value="">All projects</option>
      {!isKnown && <option value={chosen}>{`Project ${chosen}, unknown`}</option>}
      {projects.map((it) => (
        <option key={it.id} value={it.id}>
          {plain(it.name, 60)}
        </option>
      ))}
    </select>
  );
}
