import { signal } from "@preact/signals";
import { type ComponentChildren, type ComponentType, h } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { Button, Empty } from "../parts/basics.tsx";

/** A component whose code is loaded when it is first shown, or earlier. */
interface Late<Props> {
  (props: Props): ComponentChildren;
  /** Loads the code once; can be retried after a failure. */
  fetch(): Promise<void>;
  /** The same after a failure; where it fails again and is waited for, the page is loaded anew. */
  retry(): Promise<void>;
}

const sheets = new Map<string, Promise<void>>();

/** Adds a view's style sheet to the page, once; a failure is not remembered. */
function addStyles(name: string): Promise<void> {
  const added = sheets.get(name) ?? linked(`/__sim/styles/${name}.css`);
  sheets.set(name, added);
  added.catch(() => sheets.delete(name));
  return added;
}

const linked = (href: string) =>
  new Promise<void>((resolve, reject) => {
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
    sheet.onload = () => resolve();
    sheet.onerror = () => {
      sheet.remove();
      reject(new Error(`${href} did not load`));
    };
    document.head.append(sheet);
  });

/** @param styles Names of its style sheets, each in the folder of that view */
export function late<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  ...styles: readonly string[]
): Late<Props> {
  const found = signal<{ Component: ComponentType<Props> } | "failed" | undefined>(undefined);
  async function fetch(): Promise<void> {
    if (typeof found.value === "object") return;
    found.value = await Promise.all([load(), ...styles.map(addStyles)]).then(
      ([Component]) => ({ Component }),
      () => "failed" as const,
    );
  }
  /** Number of places that show the failure. */
  let shown = 0;
  /** Chromium remembers that a module failed, so only a new page asks for it again. The address has the page's state. */
  async function retry(): Promise<void> {
    await fetch();
    if (found.value === "failed" && shown > 0) location.reload();
  }
  function show(): () => void {
    shown++;
    return () => void shown--;
  }
  function LateComponent(props: Props): ComponentChildren {
    useEffect(() => void fetch(), []);
    const it = found.value;
    if (it === undefined) return <p class="muted shell-loading">Loading</p>;
    return it === "failed" ? <NotLoaded onShow={show} onRetry={retry} /> : h(it.Component, props);
  }
  return Object.assign(LateComponent, { fetch, retry });
}

function NotLoaded({ onShow, onRetry }: { onShow: () => () => void; onRetry: () => Promise<void> }) {
  useEffect(onShow, []);
  return (
    <Empty title="This part of the page did not load">
      <p>The sim did not respond. If it runs, it was updated: reload the page.</p>
      <p>
        <Button kind="main" onClick={() => void onRetry()}>
          Try again
        </Button>
      </p>
    </Empty>
  );
}

/** Shows an error in place of a view that throws. */
export function Guarded({ children }: { children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary((thrown: unknown) => console.error(thrown));
  if (error === undefined || error === null) return <>{children}</>;
  return (
    <Empty title="This view failed">
      <p>
        This is a bug in phx-sim. The data of the sim is not affected. Error: <code>{String(error)}</code>
      </p>
      <p>
        <Button kind="main" onClick={reset}>
          Try again
        </Button>
      </p>
    </Empty>
  );
}
