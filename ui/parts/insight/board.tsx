import type { ComponentChildren, ComponentType } from "preact";
import { useState } from "preact/hooks";
import { isObject, type Json } from "../../../src/kernel/base/json.ts";
import { Button } from "../basics.tsx";
import { Icon } from "../icon.tsx";
import { plain } from "../text.ts";
import type { Setting } from "./periods.ts";
import { type Answer, isEmpty, type Picture, pictureOf, tableOf } from "./picture.ts";
import { captionOf, DataRows, Drawn } from "./pictures.tsx";
import { lookOf, wordsOf } from "./words.ts";

/** A place on a board in CSS grid lines. */
export interface Placement {
  readonly column: string;
  readonly row: string;
  /** Columns, of twelve. */
  readonly width: number;
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

const columns = 12;
const tallest = 1_000;
/** Size of a tile without a layout: two fit beside each other. */
const usual = { w: 6, h: 5 };

const whole = (value: Json | undefined, least: number, most: number, otherwise: number): number =>
  typeof value === "number" && Number.isFinite(value) ? Math.min(most, Math.max(least, Math.trunc(value))) : otherwise;

const overlap = (a: Box, b: Box): boolean => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** Places of tiles by their `layouts.sm`; those without one, and those that would cover another, follow below. */
export function placementsOf(layouts: readonly Readonly<Record<string, Json>>[]): Placement[] {
  const boxes: Box[] = [];
  let below = 0;
  let right = 0;
  for (const { sm } of layouts) {
    const given = isObject(sm) ? sm : {};
    const w = whole(given.w, 1, columns, usual.w);
    const h = whole(given.h, 1, tallest, usual.h);
    const isLoose = typeof given.x !== "number" || typeof given.y !== "number";
    if (right + w > columns) right = 0;
    const last = boxes.at(-1);
    const beside = isLoose && right > 0 && last ? { x: right, y: last.y } : { x: 0, y: below };
    const box = isLoose
      ? { ...beside, w, h }
      : { x: whole(given.x, 0, columns - w, 0), y: whole(given.y, 0, 1_000_000, below), w, h };
    const isFree = !boxes.some((it) => overlap(it, box));
    const placed = isFree ? box : { ...box, y: below };
    boxes.push(placed);
    right = isLoose ? placed.x + w : 0;
    below = Math.max(below, placed.y + h);
  }
  // rows are as tall as their tiles need: one for each edge
  const edges = [...new Set(boxes.flatMap((it) => [it.y, it.y + it.h]))].sort((a, b) => a - b);
  const rowAt = new Map(edges.map((edge, i) => [edge, i + 1]));
  const row = (edge: number): number => rowAt.get(edge) ?? 1;
  return boxes.map(({ x, y, w, h }) => ({
    column: `${x + 1} / span ${w}`,
    row: `${row(y)} / span ${row(y + h) - row(y)}`,
    width: w,
  }));
}

/** A tile of a dashboard, as the service shows it; only what is drawn. */
export interface BoardTile {
  readonly id: number;
  readonly layouts: Readonly<Record<string, Json>>;
  readonly text: { readonly body: string } | null;
  readonly insight: {
    readonly name: string | null;
    readonly derived_name: string | null;
    readonly description: string | null;
    readonly query: Json;
    readonly result: Json;
    readonly columns: Json;
    readonly last_refresh: string | null;
    readonly timezone: string | null;
  } | null;
  /** Why the result could not be computed. */
  readonly error?: { readonly message: string } | null | undefined;
}

/** A dashboard, as the service shows it; only what is drawn. */
export interface BoardDashboard {
  readonly name: string | null;
  readonly description: string;
  readonly tags: readonly string[];
  readonly pinned: boolean;
  readonly is_shared: boolean;
  readonly restriction_level: number;
  readonly team_id: number;
  readonly filters: Readonly<Record<string, Json>>;
  readonly tiles: readonly BoardTile[];
}

const titleOf = (insight: NonNullable<BoardTile["insight"]>): string =>
  plain(insight.name || insight.derived_name || "", 200) || "Untitled insight";

interface InsightCardProps {
  title: string;
  description?: string | null;
  query: Json;
  /** undefined: it is computed. */
  answer: Answer | undefined;
  /** Why there is no result. */
  problem?: ComponentChildren;
  setting: Setting;
  /** Links and buttons in the foot. */
  actions?: ComponentChildren;
}

interface BodyProps {
  title: string;
  picture: Picture | undefined;
  isTable: boolean;
}

function Body({ title, picture, isTable }: BodyProps) {
  if (picture === undefined) return <p class="muted">Counting</p>;
  if (isEmpty(picture)) return <p class="muted">No event matches. Captured events appear here as they arrive.</p>;
  return isTable ? <DataRows table={tableOf(picture)} title={title} /> : <Drawn picture={picture} title={title} />;
}

/** Switches between a chart and its numbers. */
function LookSwitch({ title, isTable, onSwitch }: LookSwitchProps) {
  return (
    <span class="insight-switch">
      {([false, true] as const).map((it) => (
        <Button
          key={String(it)}
          kind="quiet"
          class="button-icon"
          isPressed={isTable === it}
          title={it ? "Table" : "Chart"}
          aria-label={`Show ${title} as a ${it ? "table" : "chart"}`}
          onClick={() => onSwitch(it)}
        >
          <Icon of={it ? "table" : "chart"} />
        </Button>
      ))}
    </span>
  );
}

interface LookSwitchProps {
  title: string;
  isTable: boolean;
  onSwitch(isTable: boolean): void;
}

/** An insight with its result, as a chart or as a table, and its query in words. */
export function InsightCard(props: InsightCardProps) {
  const { title, description, query, answer, problem, setting, actions } = props;
  const look = lookOf(query);
  const [isTable, setTable] = useState(look === "table");
  const picture = answer && problem === undefined ? pictureOf(query, answer, setting) : undefined;
  // numbers and tables are their own tables
  const isChart = problem === undefined && look !== "number" && picture?.kind !== "rows";
  return (
    <>
      <header class="insight-head">
        <h3 dir="auto">{title}</h3>
        {look !== "number" && <span class="muted small cut">{look}</span>}
        {isChart && <LookSwitch title={title} isTable={isTable} onSwitch={setTable} />}
      </header>
      <div class="insight-in">
        {description && (
          <p class="muted small" dir="auto">
            {plain(description, 400)}
          </p>
        )}
        {problem ?? <Body title={title} picture={picture} isTable={isTable} />}
      </div>
      <footer class="insight-foot">
        <span class="cut" title={wordsOf(query)}>
          {[wordsOf(query), picture && captionOf(picture)].filter(Boolean).join(" · ")}
        </span>
        {actions}
      </footer>
    </>
  );
}

interface BoardProps {
  /** Shows a text tile: loaded late by the inspector, part of a shared page. */
  Markdown: ComponentType<{ text: string }>;
  tiles: readonly BoardTile[];
  /** For results without a time of their own. */
  setting: Setting;
  actions?(tile: BoardTile): ComponentChildren;
}

const Failed = ({ message }: { message: string }) => (
  <p class="callout callout-warned" role="status">
    The query failed: {plain(message, 1_000)}
  </p>
);

/** The tiles of a dashboard in its layout; one column where there is no room for it. */
export function Board({ Markdown, tiles, setting, actions }: BoardProps) {
  const places = placementsOf(tiles.map((it) => it.layouts));
  return (
    <div class="insight-room">
      <div class="insight-board">
        {tiles.map((tile, i) => {
          const { column, row, width } = places[i] ?? { column: "auto", row: "auto", width: columns };
          const { insight, text, error } = tile;
          return (
            <article
              key={tile.id}
              class={`insight-card${width < 5 ? " insight-narrow" : ""}`}
              aria-label={insight ? titleOf(insight) : "Text"}
              style={{ "--column": column, "--row": row }}
            >
              {text && <Markdown text={text.body} />}
              {insight && (
                <InsightCard
                  title={titleOf(insight)}
                  description={insight.description}
                  query={insight.query}
                  answer={insight.result === null ? undefined : { results: insight.result, columns: insight.columns }}
                  problem={error ? <Failed message={error.message} /> : undefined}
                  setting={{
                    now: insight.last_refresh === null ? setting.now : Date.parse(insight.last_refresh),
                    timeZone: insight.timezone ?? setting.timeZone,
                  }}
                  actions={actions?.(tile)}
                />
              )}
            </article>
          );
        })}
      </div>
    </div>
  );
}
