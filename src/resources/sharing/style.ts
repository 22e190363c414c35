import type { Placement } from "./placement.ts";

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
h3, h4, h5, h6 { margin: 16px 0 8px; line-height: 1.3; }
h3 { font-size: 19px; }
h4 { font-size: 17px; }
h5, h6 { font-size: 15px; }
.tile p, .tile ul, .tile ol { margin: 8px 0; }
.tile p { white-space: pre-line; }
.tile p, .tile li { unicode-bidi: plaintext; text-align: start; }
.tile ul, .tile ol { padding-left: 24px; }
.quiet { color: var(--quiet); }
a { color: var(--accent); }
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
export const tileClass = (index: number): string => `t${index}`;

const placeRule = ({ column, width, row, height }: Placement, index: number): string =>
  `.${tileClass(index)} { grid-area: ${row} / ${column} / span ${height} / span ${width}; }`;

/** The whole style of a page, as the text of its one style element. */
export const styleOf = (placements: readonly Placement[] = []): string =>
  base + placements.map(placeRule).join("\n");
