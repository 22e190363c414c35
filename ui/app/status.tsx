import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Stat } from "../../src/journal/feed/frames.ts";
import { type Outcome, outcomes } from "../../src/journal/outcomes.ts";
import { connection, stat } from "../feed/socket.ts";
import { Badge, Button } from "../parts/basics.tsx";
import { OutcomeSign } from "../parts/outcome.tsx";
import { Sparkline } from "../parts/sparkline.tsx";
import { numberText, plain } from "../parts/text.ts";
import { go, link, project, withParams } from "./location.ts";
import { info, useTotals } from "./sim.ts";
import {
  beginMinute,
  clockSign,
  isStill,
  type Minute,
  minuteAt,
  modeOf,
  type Sign,
  sumOf,
} from "./status-texts.ts";
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
      <LastMinute />
      <div class="row end shell-end">
        {clock && <SignBadge sign={clock} />}
        {now && <SignBadge sign={modeOf(now)} />}
        <span role="status" data-connection={state}>
          <Badge tone={state === "live" ? "good" : "odd"}>{connectionTexts[state]}</Badge>
        </span>
        <Button
          kind="quiet"
          class="shell-theme"
          onClick={nextTheme}
          title="Dark, light or system colours (T)"
        >
          <span class="unseen">Colours: </span>
          {theme.value}
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

const totals = ["kept", "dropped", "rejected"] as const;

/** "Events: stored as sent". */
const titleOf = ({ of, means }: (typeof outcomes)[Outcome]): string =>
  `${of === "events" ? "Events" : "Requests"}: ${means}`;

function OfProject({ id }: { id: number }) {
  const totals = useTotals({ project: id });
  if (!totals) return null;
  const { events, requests } = totals;
  return <Figures now={{ kept: events.kept, dropped: events.dropped, rejected: requests.rejected }} />;
}

function Figures({ now }: { now: Pick<Stat, "kept" | "dropped" | "rejected"> }) {
  return (
    <div class="shell-totals">
      {totals.map((name) => (
        <span
          key={name}
          class={`shell-total ${now[name] > 0 ? `outcome-${name}` : ""}`}
          title={titleOf(outcomes[name])}
        >
          <OutcomeSign of={name} /> <b>{numberText(now[name])}</b> {name}
        </span>
      ))}
    </div>
  );
}

function LastMinute() {
  const minute = useSignal<Minute | undefined>(undefined);
  const now = stat.value;
  useEffect(() => {
    if (now) minute.value = minute.value ? minuteAt(minute.value, now.at, now) : beginMinute(now.at, now);
  }, [now, minute]);
  const isMoving = minute.value !== undefined && !isStill(minute.value);
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(() => {
      const last = minute.peek();
      if (last && !document.hidden) minute.value = minuteAt(last, Date.now());
    }, 1_000);
    return () => clearInterval(timer);
  }, [isMoving, minute]);
  if (!minute.value) return null;
  const { kept, dropped, rejected } = minute.value;
  const where = project.value === undefined ? "" : ", of all projects";
  const label = `Last minute, since this page was opened${where}: ${sumOf(kept)} kept, ${sumOf(dropped)} dropped, ${sumOf(rejected)} rejected`;
  return <Sparkline values={kept} under={dropped} hollow={rejected} label={label} />;
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
