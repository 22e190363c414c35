import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { query } from "../../api/call.ts";
import { useLast, useResource } from "../../api/resource.ts";
import { stepKeys, useKeys } from "../../app/keyboard.ts";
import { go, link, project, route, withParams } from "../../app/location.ts";
import { info, projectKey, revision } from "../../app/sim.ts";
import { browserSnippet, nodeSnippet } from "../../copy/snippets.ts";
import { Code, Empty, Trouble } from "../../parts/basics.tsx";
import { Split, Tabs } from "../../parts/layout.tsx";
import { WindowedList } from "../../parts/windowed-list.tsx";
import type { SdkCalls } from "./words.ts";

interface ListingProps<T> {
  /** Path and key of the list in the control API. */
  kind: "persons" | "groups";
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

type Page<T> = { readonly more: boolean } & Partial<Record<"persons" | "groups", readonly T[]>>;

/** A list with search and details, for persons and groups. It grows as its end comes near, up to the sim's limit. */
export function Listing<T>(props: ListingProps<T>) {
  const { kind, keyOf, hrefOf, cellsOf, details, home } = props;
  const search = route.value.params.q ?? "";
  const [limit, setLimit] = useState(200);
  const path = `${kind}${query({ project: project.value, search, limit })}`;
  const { data, problem } = useResource<Page<T>>(path, { revision: revision.value });
  const loaded = data?.[kind];
  const items = useLast(loaded) ?? [];
  const chosen = items.findIndex(props.isChosen);
  const box = useRef<HTMLInputElement>(null);
  const choose = (item: T) => go(hrefOf(item));
  useKeys("Persons and groups", [
    { keys: "/", does: "Search", run: () => box.current?.focus() },
    ...stepKeys(kind.slice(0, -1), items, chosen, choose),
    { keys: "Escape", does: "Back to the list", run: () => (details ? go(home) : box.current?.blur()) },
  ]);
  const isEmpty = loaded?.length === 0;
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
      {isEmpty && search !== "" && <Empty title={`No ${kind} match the search`} />}
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
          {...(data?.more && { onNearEnd: () => setLimit((it) => Math.min(10_000, it * 2)) })}
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
