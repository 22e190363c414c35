import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { isLockedOut } from "../api/call.ts";
import { Empty } from "../parts/basics.tsx";
import { Banner } from "./banner.tsx";
import { Guarded } from "./guarded.tsx";
import { Help } from "./help.tsx";
import { useKeys } from "./keys.ts";
import { go, link, route } from "./location.ts";
import { LockedOut } from "./locked-out.tsx";
import { loadInfo, worldRevision } from "./sim.ts";
import { Status } from "./status.tsx";
import { nextTheme } from "./theme.ts";
import { useTitle } from "./use-title.ts";
import { type View, views } from "./views.ts";

const viewNow = (): View | undefined =>
  route.value.view === "" ? views[0] : views.find((it) => it.id === route.value.view);

/** The whole page: where one can go, how the sim is, and the view. */
export function Shell() {
  const isHelpOpen = useSignal(false);
  const setHelp = (isOpen: boolean) => {
    isHelpOpen.value = isOpen;
  };
  const help = () => setHelp(true);
  const world = worldRevision.value;
  const view = viewNow();
  useEffect(() => void loadInfo(), [world]);
  useShellKeys(help);
  useTitle(view?.label ?? "No such page");
  useFocus(view?.id);
  if (isLockedOut.value) return <LockedOut />;
  return (
    <div class="shell">
      <button type="button" class="button shell-skip" onClick={toContent}>
        Skip to the content
      </button>
      <a class="shell-brand" href={link("")}>
        phx-sim
      </a>
      <Status onHelp={help} />
      <Navigation current={view} />
      <Banner />
      <main class="shell-view" id="view" tabIndex={-1} aria-label={view?.label}>
        <h1 class="unseen">{view?.label ?? "No such page"}</h1>
        <Guarded key={view?.id}>{view ? <view.Component /> : <NoView />}</Guarded>
      </main>
      {isHelpOpen.value && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

function useShellKeys(onHelp: () => void): void {
  useKeys(
    "Go to",
    views.map(({ id, key, label }) => ({ keys: `g ${key}`, does: label, run: () => go(link(id)) })),
  );
  useKeys("Everywhere", [
    { keys: "/", does: "To the filter of this page", run: toFilter },
    { keys: "?", does: "Show the keys", run: onHelp },
    { keys: "T", does: "Dark, light, or as the system", run: nextTheme },
  ]);
}

/** Who goes to another view by the keyboard, or hears the page, begins at its content. */
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
  // what is shown now begins at its beginning, however far down the one before was read
  useLayoutEffect(() => document.getElementById("view")?.scrollTo(0, 0), [place]);
}

function toFilter(): void {
  const field = document.querySelector("#view [data-filter], #view input[type=search]");
  if (field instanceof HTMLElement) field.focus();
}

const toContent = (): void => document.getElementById("view")?.focus();

function Navigation({ current }: { current: View | undefined }) {
  const box = useRef<HTMLElement>(null);
  const id = current?.id;
  useLayoutEffect(() => {
    box.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [id]);
  return (
    <nav class="shell-nav" aria-label="Views" ref={box}>
      {views.map((it) => (
        <a
          key={it.id}
          href={link(it.id)}
          aria-current={it === current ? "page" : undefined}
          aria-keyshortcuts={`g ${it.key}`}
        >
          {it.label}
          <span class="keys" aria-hidden="true">
            g {it.key}
          </span>
        </a>
      ))}
    </nav>
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
