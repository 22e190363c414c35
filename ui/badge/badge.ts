// Runs in the page of the app under development, which is not ours: no globals, no cookies, nothing in the page's DOM but
// one element with a closed shadow root, and nothing that a strict Content Security Policy refuses.
import type { BadgeCounts } from "../../src/state/journal/badge-shapes.ts";
import { delayAfter, linkFor, type Place, placeOf, textsOf } from "./badge-texts.ts";
import { sheet } from "./sheet.ts";

const tag = "phx-sim-badge";
const collapsedName = "phx-sim-badge-collapsed";

/** Some pages, e.g. in a sandbox, have no storage. */
function kept(): boolean {
  try {
    return localStorage.getItem(collapsedName) === "1";
  } catch {
    return false;
  }
}
function keep(isCollapsed: boolean): void {
  try {
    if (isCollapsed) localStorage.setItem(collapsedName, "1");
    else localStorage.removeItem(collapsedName);
  } catch {}
}

function element<Tag extends keyof HTMLElementTagNameMap>(name: Tag, className: string): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(name);
  made.className = className;
  return made;
}

interface Badge {
  show(counts: BadgeCounts): void;
  hide(): void;
}

function createBadge(origin: string, place: Place): Badge {
  const host = document.createElement(tag);
  // recordings and autocapture of posthog-js leave it out
  host.className = "ph-no-capture";
  host.dataset.corner = place;
  const root = host.attachShadow({ mode: "closed" });
  root.adoptedStyleSheets = [sheet(place)];

  const box = element("section", "box");
  box.setAttribute("aria-label", "phx-sim");
  const toggle = element("button", "toggle");
  toggle.type = "button";
  toggle.textContent = "φ";
  const link = element("a", "link");
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  const sent = element("span", "sent");
  const lost = element("span", "lost");
  const reason = element("code", "reason");
  link.append(sent, lost, reason);
  box.append(toggle, link);
  root.append(box);

  let isCollapsed = kept();
  const draw = () => {
    box.classList.toggle("is-collapsed", isCollapsed);
    toggle.setAttribute("aria-expanded", String(!isCollapsed));
    toggle.setAttribute("aria-label", isCollapsed ? "Show the phx-sim badge" : "Fold the phx-sim badge");
  };
  toggle.addEventListener("click", () => {
    isCollapsed = !isCollapsed;
    keep(isCollapsed);
    draw();
  });
  // what is clicked here is not a click in the app
  for (const name of ["click", "pointerdown", "mousedown", "keydown"])
    host.addEventListener(name, (event) => event.stopPropagation());
  draw();

  return {
    show(counts) {
      const texts = textsOf(counts);
      sent.textContent = texts.sent;
      lost.textContent = texts.lost;
      reason.textContent = texts.reason;
      box.classList.toggle("is-lossy", texts.lost !== "");
      link.href = linkFor(origin, counts);
      link.title = texts.title;
      // frameworks may replace what the document contains
      if (!host.isConnected) document.documentElement.append(host);
    },
    hide: () => host.remove(),
  };
}

/** Asks for the counts while the page is visible; more and more seldom while the sim does not answer. */
function follow(origin: string, badge: Badge): void {
  // an app may replace it
  const request = window.fetch.bind(window);
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const again = () => {
    clearTimeout(timer);
    const delay = document.hidden ? undefined : delayAfter(failures);
    if (delay !== undefined) timer = setTimeout(ask, delay);
  };
  async function ask(): Promise<void> {
    try {
      const response = await request(`${origin}/__sim/badge`, { credentials: "omit", cache: "no-store" });
      if (!response.ok) throw response;
      badge.show(await response.json());
      failures = 0;
    } catch (problem) {
      failures = problem instanceof Response ? Number.POSITIVE_INFINITY : failures + 1;
      badge.hide();
    }
    again();
  }
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || failures === Number.POSITIVE_INFINITY) return;
    // the page is in use again, and so may be the sim
    failures = Math.min(failures, 1);
    again();
  });
  void ask();
}

function begin(): void {
  const script = document.currentScript ?? document.querySelector('script[src$="/__sim/badge.js"]');
  const isFrame = window.top !== window;
  if (!(script instanceof HTMLScriptElement) || isFrame) return;
  const mark = Symbol.for(tag);
  // a second script, or a page that runs its scripts again
  if (Object.hasOwn(document, mark)) return;
  Object.defineProperty(document, mark, { value: true });
  const { origin } = new URL(script.src);
  const badge = createBadge(origin, placeOf(script.dataset.corner));
  follow(origin, badge);
}

try {
  begin();
} catch {
  // the app goes on without a badge
}
