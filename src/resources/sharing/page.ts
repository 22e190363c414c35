import { createHash } from "node:crypto";
import type { Reply } from "../../http/reply.ts";
import type { ShownDashboardDetail } from "../dashboards/show.ts";
import { type Html, html, trusted } from "./html.ts";
import { renderMarkdown } from "./markdown.ts";
import { placementsOf, type ShownTile } from "./placement.ts";
import type { PageSettings } from "./settings.ts";
import { styleOf, tileClass } from "./style.ts";

/** What a page may do: nothing but look as its own style says. */
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
  /** May other pages show it in a frame? */
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
  html`<section class="tile ${tileClass(index)}" dir="auto">${insight ? showInsight(insight) : renderMarkdown(text?.body ?? "")}</section>
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

/** A page that only says something. */
export const noticePage = (status: number, title: string, text: string, isFrameable: boolean): Reply =>
  pageReply({
    status,
    title,
    style: styleOf(),
    isFrameable,
    body: html`<div class="notice"><h1>${title}</h1><p>${text}</p></div>`,
  });
