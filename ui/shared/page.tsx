import { useEffect, useState } from "preact/hooks";
import { Badge, Empty } from "../parts/basics.tsx";
import { Board, type BoardDashboard } from "../parts/insight/board.tsx";
import { Markdown } from "../parts/insight/markdown.tsx";
import { clockText, plain } from "../parts/text.ts";

/** The service's data of a shared dashboard; only what is drawn. */
interface SharedDashboard {
  readonly dashboard: BoardDashboard;
  readonly theme?: "light" | "dark" | "system";
  readonly noHeader?: true;
  readonly whitelabel?: true;
}

/** What is in the page: the dashboard and where the same data are read again, or a message. */
export type SharedPageData =
  | (SharedDashboard & { readonly source: string | null })
  | { readonly notice: { readonly title: string; readonly text: string } };

/** From one reading of the data to the next while the page is visible, ms. */
const pause = 5_000;

interface Reading {
  readonly data: SharedDashboard;
  /** Since when the data could not be read, ms; undefined while they can. */
  readonly lostAt: number | undefined;
}

/** Reads the data of the page again and again; they are JSON at the address of the page. */
function useData(given: SharedDashboard, source: string | null): Reading {
  const [reading, setReading] = useState<Reading>({ data: given, lostAt: undefined });
  useEffect(() => {
    if (source === null) return;
    const lost = () => setReading((it) => ({ ...it, lostAt: it.lostAt ?? Date.now() }));
    const read = async () => {
      if (document.hidden) return;
      const response = await fetch(source + location.search);
      if (!response.ok) return lost();
      const data: SharedDashboard = await response.json();
      setReading({ data, lostAt: undefined });
    };
    const timer = setInterval(() => void read().catch(lost), pause);
    return () => clearInterval(timer);
  }, [source]);
  return reading;
}

/** A shared dashboard with its results, or why there is none. */
export function SharedPage({ given }: { given: SharedPageData }) {
  return "notice" in given ? <Notice {...given.notice} /> : <Dashboard given={given} />;
}

function Notice({ title, text }: { title: string; text: string }) {
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <main>
      <h1 class="unseen">{title}</h1>
      <Empty title={title}>
        <p>{text}</p>
      </Empty>
    </main>
  );
}

function Dashboard({ given }: { given: SharedDashboard & { readonly source: string | null } }) {
  const { data, lostAt } = useData(given, given.source);
  const { dashboard, theme, noHeader, whitelabel } = data;
  const { description, tags, tiles } = dashboard;
  const name = plain(dashboard.name ?? "", 400) || "Untitled dashboard";
  useEffect(() => {
    document.title = name;
  }, [name]);
  useEffect(() => {
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
  }, [theme]);
  const isLive = given.source !== null && lostAt === undefined;
  return (
    <main class="shared">
      <header class={noHeader ? "unseen" : "stack"}>
        <span class="row row-wide row-base">
          <h1 dir="auto">{name}</h1>
          {tags.map((tag) => (
            <Badge key={tag}>{plain(tag, 80)}</Badge>
          ))}
        </span>
        {description !== "" && (
          <p class="muted" dir="auto">
            {plain(description, 1_000)}
          </p>
        )}
      </header>
      <h2 class="unseen">Tiles</h2>
      {tiles.length === 0 ? (
        <p class="muted">There is nothing on this dashboard yet.</p>
      ) : (
        <Board Markdown={Markdown} tiles={tiles} setting={{ now: Date.now(), timeZone: "UTC" }} />
      )}
      <footer class="row muted small" role="status">
        {lostAt !== undefined && (
          <span>{`The data could not be read since ${clockText(lostAt).slice(0, 8)}: they may be outdated.`}</span>
        )}
        {isLive && <span>Live: follows the events.</span>}
        {!whitelabel && <span>Shared with phx-sim, a local stand-in for PostHog.</span>}
      </footer>
    </main>
  );
}
