import type { Place } from "./badge-texts.ts";

/**
 * The styles, as a constructed sheet: a Content Security Policy for styles does not concern it. The colours are those of
 * ui/styles/tokens.css, which other pages do not have.
 */
const rules = `
:host { all: initial; position: fixed; z-index: 2147483647; color-scheme: light dark; }
.box { display: flex; align-items: stretch; overflow: hidden; border-radius: 6px; font: 12px/1.5 system-ui, sans-serif;
  color: light-dark(#171b21, #e7eaef); background: light-dark(#fff, #151920); border: 1px solid light-dark(#c3c9d2, #414b59); }
.toggle { all: unset; box-sizing: border-box; min-inline-size: 28px; padding: 3px 8px; text-align: center; cursor: pointer;
  font-weight: 600; color: light-dark(#1656c0, #86b6ff); }
.link { display: flex; gap: 8px; align-items: center; padding: 3px 8px 3px 0; color: inherit; text-decoration: none;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
.link:hover .sent { text-decoration: underline; }
.lost { color: light-dark(#ac231b, #ff978c); font-weight: 600; }
.reason { font: 11px/1.5 ui-monospace, monospace; max-inline-size: 16rem; overflow: hidden; text-overflow: ellipsis; }
.lost:empty, .reason:empty, .is-collapsed .link { display: none; }
.is-lossy.is-collapsed .toggle { color: light-dark(#ac231b, #ff978c); }
.toggle:focus-visible, .link:focus-visible { outline: 2px solid light-dark(#1656c0, #86b6ff); outline-offset: -2px; }
@media (max-width: 30rem) { .reason { display: none; } }
@media print { :host { display: none; } }
`;

export function sheet(place: Place): CSSStyleSheet {
  const [block, inline] = place.split("-");
  const made = new CSSStyleSheet();
  made.replaceSync(`${rules}:host { ${block}: 12px; ${inline}: 12px; }`);
  return made;
}
