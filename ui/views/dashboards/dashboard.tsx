import { useState } from "preact/hooks";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { late } from "../../app/late-view.tsx";
import { go, link, route, withParams } from "../../app/location.ts";
import { projectName, revision } from "../../app/sim.ts";
import { connection } from "../../feed/socket.ts";
import { Button, CopyButton, Empty, Trouble } from "../../parts/basics.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Board, type BoardDashboard } from "../../parts/insight/board.tsx";
import { rangeText } from "../../parts/insight/words.ts";
import { plain } from "../../parts/text.ts";
import { boardTest } from "./copies.ts";
import { DashboardBadges } from "./list.tsx";
import { usePaced } from "./paced.ts";

const Markdown = late(async () => (await import("../../parts/insight/markdown.tsx")).Markdown);

/** The restriction level of dashboards that all may edit. */
const everyone = 21;

/** Results are computed at most once in this time while events arrive, ms. */
const refreshEvery = 2_000;

interface DashboardWithResults {
  readonly dashboard: BoardDashboard;
  /** The sim's time, ms. */
  readonly now: number;
  readonly timezone: string;
  readonly shared_at: string | null;
}

/** A dashboard with the results of its tiles; they follow the events. */
export function DashboardPage({ id }: { id: number }) {
  const { from, to } = route.value.params;
  const path = `dashboards/${id}${query({ date_from: from, date_to: to })}`;
  const { data, problem } = useResource<DashboardWithResults>(path, {
    revision: usePaced(revision.value, refreshEvery),
  });
  if (!data) return problem ? <Missing id={id} problem={problem} /> : <p class="muted dashboards-wait">Counting</p>;
  const { dashboard, now, timezone, shared_at: shared } = data;
  const { name, description, tiles, filters, pinned, is_shared, team_id } = dashboard;
  const badges = { pinned, shared: is_shared, restricted: dashboard.restriction_level > everyone };
  return (
    <>
      <header class="row row-wide dashboards-head">
        <h2 dir="auto">{plain(name ?? "") || "(no name)"}</h2>
        <DashboardBadges of={badges} />
        <span class="muted small">
          {[`dashboard ${id}`, plain(projectName(team_id)), connection.value === "live" ? "live" : ""]
            .filter(Boolean)
            .join(" · ")}
        </span>
        <span class="row end">
          <Range saved={rangeText(textOf(filters.date_from), textOf(filters.date_to))} from={from} to={to} />
          {shared !== null && (
            <a class="button" href={shared} target="_blank" rel="noreferrer">
              <Icon of="link" />
              Shared page
            </a>
          )}
          <CopyButton label="Copy as test" text={() => boardTest(plain(name ?? ""), tiles)} />
          <a class="button" href={link("dashboards", ["new"], { on: id })}>
            <Icon of="plus" />
            New insight
          </a>
        </span>
        {description !== "" && (
          <p class="muted dashboards-about" dir="auto">
            {plain(description, 1_000)}
          </p>
        )}
      </header>
      {problem && <Trouble problem={problem} />}
      {tiles.length === 0 ? (
        <NoTiles id={id} />
      ) : (
        <Board Markdown={Markdown} tiles={tiles} setting={{ now, timeZone: timezone }} />
      )}
    </>
  );
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const presets = [
  ["-7d", "7 days"],
  ["-14d", "14 days"],
  ["-30d", "30 days"],
  ["-90d", "90 days"],
] as const;

interface RangeProps {
  /** The dashboard's own, in words. */
  saved: string;
  from: string | undefined;
  to: string | undefined;
}

const isDay = (text: string | undefined) => text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text);

/** The range of all tiles; it replaces that of the dashboard, and is not stored. */
function Range({ saved, from, to }: RangeProps) {
  const isPreset = to === undefined && (from === undefined || presets.some(([it]) => it === from));
  const [isCustom, setCustom] = useState(!isPreset);
  const set = (start: string | undefined, end?: string) => {
    go(withParams({ from: start, to: end }), true);
  };
  const choose = (start: string | undefined) => {
    setCustom(false);
    set(start);
  };
  const day = (label: string, value: string | undefined, change: (text: string | undefined) => void) => (
    <input
      class="input dashboards-day"
      type="date"
      aria-label={label}
      value={isDay(value) ? value : ""}
      onChange={(event) => change(event.currentTarget.value || undefined)}
    />
  );
  return (
    <fieldset class="row row-tight">
      <legend class="unseen">Date range of all tiles</legend>
      <Button
        isPressed={!isCustom && from === undefined}
        title={`As saved: ${saved}`}
        onClick={() => choose(undefined)}
      >
        As saved
      </Button>
      {presets.map(([value, text]) => (
        <Button key={value} isPressed={!isCustom && from === value} onClick={() => choose(value)}>
          {text}
        </Button>
      ))}
      <Button isPressed={isCustom} onClick={() => setCustom(!isCustom)}>
        Dates
      </Button>
      {isCustom && day("From", from, (text) => set(text, to))}
      {isCustom && day("To", to, (text) => set(from, text))}
    </fieldset>
  );
}

interface MissingProps {
  id: number;
  problem: { code: string; message: string; hint: string | undefined };
}

const Missing = ({ id, problem }: MissingProps) =>
  problem.code === "not_found" ? (
    <Empty title={`There is no dashboard ${id}`}>
      <a href={link("dashboards")}>All dashboards</a>
    </Empty>
  ) : (
    <Trouble problem={problem} />
  );

const NoTiles = ({ id }: { id: number }) => (
  <Empty title="Nothing is on this dashboard yet">
    <p>
      <a href={link("dashboards", ["new"], { on: id })}>Make an insight</a>, or filter the{" "}
      <a href={link("events")}>Events</a> and choose “Make an insight” there.
    </p>
  </Empty>
);
