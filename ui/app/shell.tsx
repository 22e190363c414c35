import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { isLockedOut } from "../api/call.ts";
import { connection, stat } from "../feed/socket.ts";
import { Badge, Button, Empty } from "../parts/basics.tsx";
import { counted, numberText } from "../parts/text.ts";
import { Help } from "./help.tsx";
import { useKeys } from "./keys.ts";
import { go, link, project, route, withParams } from "./location.ts";
import { info, loadInfo, worldRevision } from "./sim.ts";
import { nextTheme, theme } from "./theme.ts";
import { type View, views } from "./views.ts";

const first: View | undefined = views[0];

const viewNow = (): View | undefined =>
  route.value.view === "" ? first : views.find((it) => it.id === route.value.view);

/** The whole page: where one can go, how the sim is, and the view. */
export function Shell() {
  const isHelpOpen = useSignal(false);
  const world = worldRevision.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: projects come and go with the world
  useEffect(() => void loadInfo(), [world]);
  useKeys("Everywhere", [
    ...views.map((view) => ({
      keys: `g ${view.key}`,
      does: `Go to ${view.label.toLowerCase()}`,
      run: () => go(link(view.id)),
    })),
    { keys: "?", does: "Show the keys", run: () => void (isHelpOpen.value = !isHelpOpen.value) },
    { keys: "T", does: "Dark, light, or as the system", run: nextTheme },
  ]);
  if (isLockedOut.value) return <LockedOut />;
  const view = viewNow();
  return (
    <div class="shell">
      <a class="button shell-skip" href="#view" onClick={skip}>
        Skip to the content
      </a>
      <a class="shell-brand" href={link("")}>
        phx-sim
      </a>
      <Status onHelp={() => void (isHelpOpen.value = true)} />
      <nav class="shell-nav" aria-label="Views">
        {views.map((it) => (
          <a key={it.id} href={link(it.id)} aria-current={it === view ? "page" : undefined}>
            {it.label}
            <span class="keys" aria-hidden="true">
              g {it.key}
            </span>
          </a>
        ))}
      </nav>
      <Banner />
      <main class="shell-view" id="view" tabIndex={-1}>
        {view ? <view.Component key={view.id} /> : <NoView />}
      </main>
      {isHelpOpen.value && <Help onClose={() => void (isHelpOpen.value = false)} />}
    </div>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("view")?.focus();
}

const connectionTexts = { live: "Live", connecting: "Connecting", lost: "Not connected" } as const;

function Status({ onHelp }: { onHelp: () => void }) {
  const now = stat.value;
  const state = connection.value;
  return (
    <header class="shell-status">
      <ProjectChoice />
      {now && (
        <div class="shell-totals">
          <span>
            <b>{numberText(now.kept)}</b> kept
          </span>
          <span>
            <b>{numberText(now.dropped)}</b> dropped
          </span>
          <span>
            <b>{numberText(now.rejected)}</b> rejected
          </span>
        </div>
      )}
      <div class="shell-end">
        {now?.tape && <Badge tone="note">{`${now.tape.mode}: ${now.tape.name}`}</Badge>}
        {now?.recording && <Badge tone="bad">recording</Badge>}
        {now?.clock.frozen && <Badge tone="note">clock stands</Badge>}
        <span role="status">
          <Badge tone={state === "live" ? "good" : "odd"}>{connectionTexts[state]}</Badge>
        </span>
        <Button kind="quiet" onClick={nextTheme} title="Dark, light, or as the system (T)">
          {theme.value}
        </Button>
        <Button kind="quiet" onClick={onHelp} aria-label="Keys" title="Keys (?)">
          ?
        </Button>
      </div>
    </header>
  );
}

function ProjectChoice() {
  const projects = info.value?.projects ?? [];
  const choose = (value: string) => go(withParams({ project: value === "" ? undefined : value }));
  return (
    <select
      class="select"
      aria-label="Project"
      value={project.value ?? ""}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      <option value="">All projects</option>
      {projects.map((it) => (
        <option key={it.id} value={it.id}>
          {it.name}
        </option>
      ))}
    </select>
  );
}

/** What must not be missed. */
function Banner() {
  const now = stat.value;
  const faults = now?.faults ?? [];
  return (
    <div class="shell-banner">
      {connection.value === "lost" && (
        <p class="is-odd" role="alert">
          The sim does not answer. What you see is what was there; the page connects again by itself.
        </p>
      )}
      {faults.length > 0 && (
        <p class="is-bad" role="alert">
          <strong>
            {faults.length === 1 ? "A fault is in force" : `${faults.length} faults are in force`}
          </strong>
          <span>{faults.join(", ")}</span>
          <a href={link("faults")}>What goes wrong on purpose</a>
        </p>
      )}
      {now !== undefined && now.scenario_problems > 0 && (
        <p class="is-odd" role="alert">
          <strong>{`The scenario has ${counted(now.scenario_problems, "mistake")}`}</strong>
          <span>The last good one stays in force.</span>
          <a href={link("world", ["scenario"])}>See where</a>
        </p>
      )}
    </div>
  );
}

function NoView() {
  return (
    <Empty title="There is no such page">
      <p>
        The address names a view that is not there. <a href={link("")}>Go to the first page</a>.
      </p>
    </Empty>
  );
}

function LockedOut() {
  return (
    <Empty title="This sim needs its token">
      <p>
        It is open to the network. Use the inspector link that phx-sim start prints: it ends in the token,
        after <code>#t=</code>.
      </p>
    </Empty>
  );
}
