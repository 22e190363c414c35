import { signal } from "@preact/signals";
import { type ComponentChildren, type ComponentType, h } from "preact";
import { useEffect } from "preact/hooks";
import { Button, Empty } from "../parts/basics.tsx";

/** A component whose code is fetched when it is first shown, or before. */
export interface Late<Props> {
  (props: Props): ComponentChildren;
  /** Fetches the code, unless it is here; what does not come can be tried again. */
  fetch(): Promise<void>;
}

/** Makes a component of one that `load` imports. */
export function late<Props extends object>(load: () => Promise<ComponentType<Props>>): Late<Props> {
  const found = signal<{ Component: ComponentType<Props> } | "failed" | undefined>(undefined);
  async function fetch(): Promise<void> {
    if (typeof found.value === "object") return;
    found.value = await load().then(
      (Component) => ({ Component }),
      () => "failed" as const,
    );
  }
  function LateComponent(props: Props): ComponentChildren {
    useEffect(() => void fetch(), []);
    const it = found.value;
    if (it === undefined) return <p class="shell-loading">Loading</p>;
    return it === "failed" ? <NotLoaded onRetry={fetch} /> : h(it.Component, props);
  }
  return Object.assign(LateComponent, { fetch });
}

function NotLoaded({ onRetry }: { onRetry: () => Promise<void> }) {
  return (
    <Empty title="This part of the page did not load">
      <p>The sim did not answer. Where it runs all the same, it was updated since: load the page again.</p>
      <p>
        <Button kind="main" onClick={() => void onRetry()}>
          Try again
        </Button>
      </p>
    </Empty>
  );
}
