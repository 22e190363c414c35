import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { useLast } from "../../api/resource.ts";
import { stepKeys, useKeys } from "../../app/keyboard.ts";
import { go, link, route, withParams } from "../../app/location.ts";
import { info, projectKey } from "../../app/sim.ts";
import { browserSnippet, nodeSnippet } from "../../copy/snippets.ts";
import { Code, Empty, Trouble } from "../../parts/basics.tsx";
import { Split, Tabs } from "../../parts/layout.tsx";
import { WindowedList } from "../../parts/windowed-list.tsx";
import type { SdkCalls } from "./words.ts";

/** The size of a list that grows as its end comes near, up to the sim's limit. */
export function useGrowing(): { limit: number; grow(): void } {
  const [limit, setLimit] = useState(200);
  return { limit, grow: () => setLimit((it) => Math.min(10_000, it * 2)) };
}

interface ListingProps<T> {
  kind: "persons" | "groups";
  items: readonly T[] | undefined;
  problem: { message: string; hint?: string | undefined } | undefined;
  more: boolean;
  grow(): void;
  keyOf(item: T): string;
  hrefOf(item: T): string;
  cellsOf(item: T): ComponentChildren;
  head: ComponentChildren;
  isChosen(item: T): boolean;
  details: ComponentChildren | undefined;
  label: string;
  /** Address without a selection. */
  home: string;
  empty: ComponentChildren;
}

/** A list with search and details, for persons and groups. */
export function Listing<T>(props: ListingProps<T>) {
  const items = useLast(props.items) ?? [];
  const { kind, problem, more, grow, keyOf, hrefOf, cellsOf, details, home } = props;
  const chosen = items.findIndex(props.isChosen);
  const box = useRef<HTMLInputElement>(null);
  const search = route.value.params.q ?? "";
  const choose = (item: T) => go(hrefOf(item));
  useKeys("Persons and groups", [
    { keys: "/", does: "Search", run: () => box.current?.focus() },
    ...stepKeys(kind.slice(0, -1), items, chosen, choose),
    { keys: "Escape", does: "Back to the list", run: () => (details ? go(home) : box.current?.blur()) },
  ]);
  const isEmpty = props.items !== undefined && items.length === 0;
  const list = (
    <>
      <Tabs
        label="People"
        current={kind}
        tabs={[
          { id: "persons", title: "Persons", href: link("people") },
          { id: "groups", title: "Groups", href: link("people", ["groups"]) },
        ]}
      />
      <div class="row toolbar">
        <input
          class="input"
          type="search"
          ref={box}
          value={search}
          aria-label={`Search ${kind}`}
          placeholder={kind === "persons" ? "Search by id, e-mail or name" : "Search by key, type or name"}
          onInput={(event) => go(withParams({ q: event.currentTarget.value || undefined }), true)}
        />
      </div>
      {problem && <Trouble problem={problem} />}
      {isEmpty && search === "" && props.empty}
      {isEmpty && search !== "" && <Empty title={`None of the ${kind} matches`} />}
      {items.length > 0 && (
        <WindowedList
          class={`people-list people-list-${kind}`}
          label={props.label}
          head={props.head}
          count={items.length}
          at={(index) => items[index]}
          keyOf={keyOf}
          cellsOf={cellsOf}
          chosen={chosen}
          onChoose={choose}
          {...(more && { onNearEnd: grow })}
        />
      )}
    </>
  );
  return <Split list={list} details={details} label={props.label} onClose={() => go(home)} />;
}

/** Empty state with code samples. */
export function Teach({ title, calls: { browser, node }, children }: TeachProps) {
  const sim = info.value;
  if (!sim) return null;
  const key = projectKey.value ?? "phc_…";
  return (
    <Empty title={title}>
      <p>{children}</p>
      <Code label="In the browser" text={browserSnippet(key, sim.url, ...browser)} />
      <Code label="On a server" text={nodeSnippet(key, sim.url, ...node)} />
    </Empty>
  );
}

interface TeachProps {
  title: string;
  calls: SdkCalls;
  children: ComponentChildren;
}
