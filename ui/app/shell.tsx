import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isLockedOut, unlock } from "../api/call.ts";
import { greetings, stat } from "../feed/socket.ts";
import { Button, Empty } from "../parts/basics.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { TextField } from "../parts/fields.tsx";
import { Icon, Mark } from "../parts/icon.tsx";
import { Banner } from "./banner.tsx";
import { keySets, useKeys } from "./keyboard.ts";
import { Guarded } from "./late-view.tsx";
import { go, link, route } from "./location.ts";
import { newProblems } from "./new-problems.ts";
import { shownKeys } from "./shortcuts.ts";
import { loadInfo, worldRevision } from "./sim.ts";
import { Status } from "./status.tsx";
import { seenBy, type Totals, titleOf } from "./status-texts.ts";
import { nextTheme } from "./theme.ts";
import { type View, views } from "./views.ts";

const viewNow = (): View | undefined =>
  route.value.view === "" ? views[0] : views.find((it) => it.id === route.value.view);

/** The page: navigation, status line, banners and the current view. */
export function Shell() {
  const [isHelpOpen, setHelp] = useState(false);
  const help = () => setHelp(true);
  const world = worldRevision.value;
  const view = viewNow();
  useEffect(() => void loadInfo(), [world]);
  useShellKeys(help);
  const Watch = useWatch();
  useTitle(view?.label ?? "No such page");
  useFocus(view?.id);
  if (isLockedOut.value) return <LockedOut />;
  return (
    <div class="shell">
      <button type="button" class="button shell-skip" onClick={toContent}>
        Skip to content
      </button>
      <a class="shell-brand" href={link("")} aria-label="phx-sim">
        <Mark />
        <b>phx-sim</b>
      </a>
      <Status onHelp={help} />
      {Watch && <Watch />}
      <Navigation current={view} />
      <Banner />
      <main class="shell-view" id="view" tabIndex={-1} aria-label={view?.label}>
        <h1 class="unseen">{view?.label ?? "No such page"}</h1>
        <Guarded key={view?.id}>{view ? <view.Component /> : <NoView />}</Guarded>
      </main>
      {isHelpOpen && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

/** What follows the problems is loaded after the view; until then, and if that fails, there is no count. */
function useWatch(): ComponentType | undefined {
  const [Watch, setWatch] = useState<ComponentType>();
  const turn = greetings.value;
  useEffect(() => {
    if (turn === 0 || Watch) return;
    import("./problem-news.ts").then(
      ({ ProblemWatch }) => setWatch(() => ProblemWatch),
      () => {},
    );
  }, [turn, Watch]);
  return Watch;
}

function useShellKeys(onHelp: () => void): void {
  useKeys(
    "Go to",
    views.map(({ id, key, label }) => ({ keys: `g ${key}`, does: label, run: () => go(link(id)) })),
  );
  useKeys("Everywhere", [
    { keys: "/", does: "Go to the filter", run: toFilter },
    { keys: "?", does: "Show keyboard shortcuts", run: onHelp },
    { keys: "T", does: "Dark, light or system colours", run: nextTheme },
  ]);
}

/** Moves the focus to the content of a new view, for keyboards and screen readers. */
function useFocus(view: string | undefined): void {
  const last = useRef(view);
  useLayoutEffect(() => {
    if (last.current === view) return;
    last.current = view;
    const main = document.getElementById("view");
    if (main?.contains(document.activeElement)) return;
    main?.focus({ preventScroll: true });
  }, [view]);
  const place = [view, ...route.value.path].join("/");
  useLayoutEffect(() => document.getElementById("view")?.scrollTo(0, 0), [place]);
}

function toFilter(): void {
  const field = document.querySelector("#view [data-filter], #view input[type=search]");
  if (field instanceof HTMLElement) field.focus();
}

const toContent = (): void => document.getElementById("view")?.focus();

const ViewLink = ({ view, current }: { view: View; current: View | undefined }) => (
  <a
    href={link(view.id)}
    class={view.place === undefined ? undefined : `shell-${view.place}`}
    title={view.label}
    aria-current={view === current ? "page" : undefined}
    aria-keyshortcuts={`g ${view.key}`}
  >
    <Icon of={view.id} />
    <span>{view.label}</span>
    {view.id === "start" && newProblems.value > 0 ? (
      <NewProblems count={newProblems.value} />
    ) : (
      <span class="keys" aria-hidden="true">
        g {view.key}
      </span>
    )}
  </a>
);

/** The number of problems that were not seen yet. */
function NewProblems({ count }: { count: number }) {
  const words = count === 1 ? "new problem" : "new problems";
  return (
    <b class="shell-count" title={`${count} ${words}`}>
      {count > 99 ? "99+" : count}
      <i class="unseen"> {words}</i>
    </b>
  );
}

/** A column with words, of icons alone, or a bar at the bottom with the views that are needed most: by width. */
function Navigation({ current }: { current: View | undefined }) {
  const [isMoreOpen, setMore] = useState(false);
  useEffect(() => setMore(false), [current]);
  const isMore = current !== undefined && current.place !== "near";
  return (
    <nav class="shell-nav" aria-label="Views">
      {views.map((it) => (
        <ViewLink key={it.id} view={it} current={current} />
      ))}
      <button
        type="button"
        class="shell-more"
        aria-current={isMore ? "page" : undefined}
        aria-haspopup="dialog"
        onClick={() => setMore(true)}
      >
        <Icon of="more" />
        <span>More</span>
      </button>
      {isMoreOpen && (
        <Dialog title="Views" onClose={() => setMore(false)}>
          <div class="shell-views">
            {views
              .filter(({ place }) => place !== "near")
              .map((it) => (
                <ViewLink key={it.id} view={it} current={current} />
              ))}
          </div>
        </Dialog>
      )}
    </nav>
  );
}

function NoView() {
  return (
    <Empty title="Page not found">
      <p>
        The address names a view that does not exist. <a href={link("")}>Go to the start page</a>.
      </p>
    </Empty>
  );
}

/** Totals when the page was last visible; undefined while it is visible. */
const seen = signal<Totals | undefined>();

/** Sets the tab's title: the view, and what arrived while the page was hidden. */
function useTitle(label: string): void {
  const title = titleOf(label, stat.value, seen.value, newProblems.value);
  useEffect(() => {
    document.title = title;
  }, [title]);
  const now = stat.value;
  useEffect(() => {
    if (seen.value && now) seen.value = seenBy(seen.value, now);
  }, [now]);
  useEffect(() => {
    const note = () => {
      seen.value = document.hidden ? stat.value : undefined;
    };
    document.addEventListener("visibilitychange", note);
    return () => document.removeEventListener("visibilitychange", note);
  }, []);
}

const names: Readonly<Record<string, string>> = {
  " ": "Space",
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
};

function Help({ onClose }: { onClose: () => void }) {
  const closeAgain = (event: KeyboardEvent) => {
    if (event.key === "?") onClose();
  };
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} onKeyDown={closeAgain}>
      <div class="help-keys">
        {shownKeys(keySets.value)
          .reverse()
          .map(({ title, keys }) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {keys.map(({ keys: pressed, does }) => (
                  <div key={pressed}>
                    <dt>{does}</dt>
                    <dd>
                      {(pressed === " " ? [" "] : pressed.split(" ")).map((key) => (
                        <kbd key={key}>{names[key] ?? key}</kbd>
                      ))}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
      </div>
    </Dialog>
  );
}

/** Asks for the token of a sim that is open to the network. */
function LockedOut() {
  const [given, setGiven] = useState("");
  const [isWrong, setWrong] = useState(false);
  const open = (event: Event) => {
    event.preventDefault();
    setWrong(!unlock(given));
  };
  return (
    <main>
      <h1 class="unseen">phx-sim</h1>
      <Empty title="This sim needs its token">
        <p>
          It is open to the network. Paste the token that it was started with (<code>--token</code> or{" "}
          <code>PHX_SIM_TOKEN</code>). If it was started without one, use the inspector link that{" "}
          <code>phx-sim start</code> prints: it ends in a generated token, after <code>#t=</code>.
        </p>
        <form class="row row-end locked-out" onSubmit={open}>
          <TextField
            label="Inspector link or token"
            hint={isWrong ? "This contains no token." : undefined}
            autocomplete="off"
            spellcheck={false}
            value={given}
            aria-invalid={isWrong}
            onText={setGiven}
          />
          <Button type="submit" kind="main">
            Open
          </Button>
        </form>
      </Empty>
    </main>
  );
}
