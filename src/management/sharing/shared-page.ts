import { createHash } from "node:crypto";
import { isObject, type Json } from "../../base/json.ts";
import type { Reply } from "../../http/reply.ts";
import type { ShownDashboardDetail } from "../dashboards/dashboard-views.ts";
import type { PageSettings } from "./sharing-rows.ts";

type ShownTile = ShownDashboardDetail["tiles"][number];

/** Where a tile stands: columns and rows from 1, as CSS counts them. */
interface Placement {
  column: number;
  width: number;
  row: number;
  height: number;
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

const columns = 12;
const tallest = 1_000;

const whole = (value: Json | undefined, least: number, most: number, otherwise: number): number =>
  typeof value === "number" && Number.isFinite(value)
    ? Math.min(most, Math.max(least, Math.trunc(value)))
    : otherwise;

/** The layout that a tile was given; `below` is where one without a layout goes. */
function boxOf({ layouts: { sm } }: ShownTile, below: number): Box {
  const given = isObject(sm) ? sm : {};
  const w = whole(given.w, 1, columns, 6);
  return {
    x: whole(given.x, 0, columns - w, 0),
    y: whole(given.y, 0, 1_000_000, below),
    w,
    h: whole(given.h, 1, tallest, 5),
  };
}

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/**
 * Places of tiles on twelve columns; one that would cover another goes below all. Rows are as many as there are
 * edges: what a tile needs decides how tall they are, since nothing is drawn in it.
 */
function placementsOf(tiles: readonly ShownTile[]): Placement[] {
  const boxes: Box[] = [];
  let below = 0;
  for (const tile of tiles) {
    const box = boxOf(tile, below);
    const isFree = !boxes.some((it) => overlap(it, box));
    boxes.push(isFree ? box : { ...box, y: below });
    below = Math.max(below, (boxes.at(-1)?.y ?? 0) + box.h);
  }
  const edges = [...new Set(boxes.flatMap((it) => [it.y, it.y + it.h]))].sort((a, b) => a - b);
  const rowAt = new Map(edges.map((edge, i) => [edge, i + 1]));
  const row = (edge: number): number => rowAt.get(edge) ?? 1;
  return boxes.map(({ x, y, w, h }) => ({
    column: x + 1,
    width: w,
    row: row(y),
    height: row(y + h) - row(y),
  }));
}

const light = `
  --page: #f6f6f3; --card: #ffffff; --line: #dcdcd6; --text: #1d1f23; --quiet: #5b6068; --accent: #1d4aff;
  --code: #f0f0ec;`;
const dark = `
  --page: #15171c; --card: #1e2128; --line: #343943; --text: #eceef2; --quiet: #a3aab6; --accent: #8fa8ff;
  --code: #15171c;`;

/** The look of all pages. Colours follow the reader's system unless the page's settings choose. */
const base = `
:root { color-scheme: light dark; ${light} }
@media (prefers-color-scheme: dark) { :root:not(.light) { ${dark} } }
:root.light { color-scheme: light; }
:root.dark { color-scheme: dark; ${dark} }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: anywhere; }
main { max-width: 1200px; margin: 0 auto; padding: 32px 24px; }
header { margin-bottom: 24px; }
h1 { margin: 0; font-size: 28px; line-height: 1.2; }
header p { margin: 8px 0 0; max-width: 70ch; color: var(--quiet); white-space: pre-line; }
.tags { display: flex; flex-wrap: wrap; gap: 6px; margin: 12px 0 0; padding: 0; list-style: none; }
.tags li { padding: 0 10px; border: 1px solid var(--line); border-radius: 99px; font-size: 13px; }
.tiles { display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 16px; }
.tile { min-width: 0; padding: 16px; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
.tile > :first-child { margin-top: 0; }
.tile > :last-child { margin-bottom: 0; }
h2 { margin: 0; font-size: 17px; line-height: 1.3; }
.tile p { margin: 8px 0; white-space: pre-line; unicode-bidi: plaintext; text-align: start; }
.quiet { color: var(--quiet); }
summary { cursor: pointer; color: var(--quiet); }
details { margin-top: 12px; font-size: 14px; }
code { padding: 1px 4px; background: var(--code); border-radius: 4px; font: 0.875em/1.5 ui-monospace, monospace; }
pre { max-height: 320px; margin: 8px 0 0; padding: 12px; overflow: auto; background: var(--code);
  border-radius: 6px; font-size: 14px; }
pre code { padding: 0; background: none; font-size: 13px; }
pre { direction: ltr; text-align: left; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
footer { margin-top: 24px; font-size: 13px; color: var(--quiet); }
.notice { max-width: 56ch; margin: 15vh auto 0; }
@media (max-width: 700px) { main { padding: 20px 16px; } .tiles { display: block; } .tile + .tile { margin-top: 16px; } }
`;

/** The class of the tile at this place in the list. */
const tileClass = (index: number): string => `t${index}`;

const placeRule = ({ column, width, row, height }: Placement, index: number): string =>
  `.${tileClass(index)} { grid-area: ${row} / ${column} / span ${height} / span ${width}; }`;

/** The whole style of a page, as the text of its one style element. */
const styleOf = (placements: readonly Placement[] = []): string =>
  base + placements.map(placeRule).join("\n");

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "");

/** A piece of a page. Only `html` and `trusted` make one: text of users cannot become one by mistake. */
interface Html {
  readonly html: string;
}

/** Marks text that was made here as HTML. */
const trusted = (text: string): Html => ({ html: text });

type Part = Html | readonly Html[] | string | number | undefined;

function written(part: Part): string {
  if (part === undefined) return "";
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return "html" in part ? part.html : part.map((it) => it.html).join("");
}

/**
 * A piece of a page: interpolated values stay text, in elements and in quoted attributes, unless
 * it is a piece itself. `undefined` is nothing.
 */
const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  trusted(strings.map((text, i) => (i === 0 ? text : written(parts[i - 1]) + text)).join(""));

/** Content security policy of a page: only its own style is allowed. */
const policyOf = (style: string, isFrameable: boolean): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "base-uri 'none'",
    "form-action 'none'",
    ...(isFrameable ? [] : ["frame-ancestors 'none'"]),
  ].join("; ");

interface Page {
  title: string;
  style: string;
  body: Html;
  theme?: PageSettings["theme"];
  /** True if other pages may show it in a frame. */
  isFrameable: boolean;
  status?: number;
}

function pageReply({ title, style, body, theme, isFrameable, status = 200 }: Page): Reply {
  const page = html`<!doctype html>
<html lang="en" class="${theme ?? "system"}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${trusted(style)}</style>
</head>
<body>
<main>${body}</main>
</body>
</html>
`;
  return {
    status,
    headers: [
      ...["content-type", "text/html; charset=utf-8"],
      ...["content-security-policy", policyOf(style, isFrameable)],
      ...["referrer-policy", "no-referrer"],
      ...["x-content-type-options", "nosniff"],
      ...["cache-control", "no-store"],
      ...(isFrameable ? [] : ["x-frame-options", "DENY"]),
    ],
    body: page.html,
  };
}

const showTags = (tags: readonly string[]): Html | undefined =>
  tags.length === 0
    ? undefined
    : html`<ul class="tags" aria-label="Tags">${tags.map((tag) => html`<li dir="auto">${tag}</li>`)}</ul>`;

const described = (description: string | null): Html | undefined =>
  description ? html`<p dir="auto">${description}</p>` : undefined;

const titleOf = ({ name }: ShownDashboardDetail): string => name || "Untitled dashboard";

const showHeader = (dashboard: ShownDashboardDetail): Html =>
  html`<header><h1 dir="auto">${titleOf(dashboard)}</h1>${described(dashboard.description)}${showTags(dashboard.tags)}</header>`;

function showInsight(insight: NonNullable<ShownTile["insight"]>): Html {
  const query = insight.query ?? insight.filters;
  return html`<h2 dir="auto">${insight.name || insight.derived_name || "Untitled insight"}</h2>${described(insight.description)}
<details><summary>Query</summary><pre><code>${JSON.stringify(query, null, 2)}</code></pre></details>`;
}

const showTile = ({ insight, text }: ShownTile, index: number): Html =>
  html`<section class="tile ${tileClass(index)}" dir="auto">${insight ? showInsight(insight) : described(text?.body ?? null)}</section>
`;

const nothingYet = html`<p class="quiet">There is nothing on this dashboard yet.</p>`;

const credit = html`<footer>Shared with phx-sim, a local stand-in for PostHog. It shows queries, not their results.</footer>`;

/** A shared dashboard, for people: names, texts and queries. It has no scripts. */
export function dashboardPage(
  dashboard: ShownDashboardDetail,
  settings: PageSettings,
  isFrameable: boolean,
): Reply {
  const tiles = dashboard.tiles.map(showTile);
  return pageReply({
    title: titleOf(dashboard),
    style: styleOf(placementsOf(dashboard.tiles)),
    theme: settings.theme,
    isFrameable,
    body: html`${settings.noHeader ? undefined : showHeader(dashboard)}
${tiles.length > 0 ? html`<div class="tiles">${tiles}</div>` : nothingYet}
${settings.whitelabel ? undefined : credit}`,
  });
}

/** A page with a message. */
export const noticePage = (status: number, title: string, text: string, isFrameable: boolean): Reply =>
  pageReply({
    status,
    title,
    style: styleOf(),
    isFrameable,
    body: html`<div class="notice"><h1>${title}</h1><p>${text}</p></div>`,
  });
