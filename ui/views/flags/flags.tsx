import { useMemo } from "preact/hooks";
import type { FlagTotals } from "../../../src/flags/decision-shapes.ts";
import type { FlagSummary as Flag } from "../../../src/flags/shapes.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { stepKeys, useKeys } from "../../app/keyboard.ts";
import { go, link, project, route, withParams } from "../../app/location.ts";
import { numberIn } from "../../app/route.ts";
import { useCounted, worldRevision } from "../../app/sim.ts";
import { Trouble } from "../../parts/basics.tsx";
import { Split } from "../../parts/layout.tsx";
import { plain } from "../../parts/text.ts";
import { talliesIn } from "./decision-data.ts";
import { FlagDetails } from "./details.tsx";
import { NoFlags } from "./empty.tsx";
import { FlagList, flagHref, holds } from "./list.tsx";

const close = (): void => go(link("flags", [], { q: route.value.params.q }));

/** Flags with their rules, decisions, explanations and overrides. */
export function FlagsView() {
  const { path, params } = route.value;
  const [key] = path;
  const list = useResource<{ flags: Flag[] }>(`flags${query({ project: project.value })}`, {
    revision: worldRevision.value,
  });
  const totals = useCounted<FlagTotals>(
    `flag-decisions/totals${query({ project: project.value })}`,
    (it) => it.counting,
  ).data;
  const tallies = useMemo(() => talliesIn(totals), [totals]);
  const { q: search = "" } = params;
  const flags = list.data?.flags ?? [];
  const shown = flags.filter((it) => holds(it, search));
  // `of` is the project of the flag while all projects are shown
  const owner = project.value ?? numberIn(params.of) ?? flags.find((it) => it.key === key)?.project;
  useFlagKeys(shown, key, owner, params.tab);
  if (!list.data) return list.problem ? <Trouble problem={list.problem} /> : null;
  if (flags.length === 0 && key === undefined) return <NoFlags />;
  return (
    <Split
      list={
        <>
          {list.problem && <Trouble problem={list.problem} />}
          <FlagList
            flags={flags}
            shown={shown}
            tallies={tallies}
            chosen={key === undefined ? undefined : { key, project: owner }}
            search={search}
            onSearch={(q) => go(withParams({ q: q || undefined }), true)}
            isExact={totals?.complete === true}
          />
        </>
      }
      details={
        key === undefined ? undefined : (
          <FlagDetails key={`${owner}/${key}`} flagKey={key} project={owner} onChange={list.reload} />
        )
      }
      label={key === undefined ? "" : `Flag ${plain(key, 100)}`}
      onClose={close}
    />
  );
}

function useFlagKeys(
  flags: readonly Flag[],
  key: string | undefined,
  owner: number | undefined,
  tab?: string,
) {
  const at = flags.findIndex((it) => it.key === key && it.project === owner);
  const open = (name: string) => {
    const flag = flags[at];
    if (flag) go(flagHref(flag, name), true);
  };
  useKeys("Flags", [
    ...stepKeys("flag", flags, at, (it) => go(flagHref(it, tab), true)),
    { keys: "/", does: "Search flags", run: () => document.getElementById("flags-search")?.focus() },
    { keys: "r", does: "Rules of the flag", run: () => open("rules") },
    { keys: "d", does: "Its decisions", run: () => open("decisions") },
    { keys: "x", does: "Explain it", run: () => open("explain") },
    { keys: "o", does: "Its overrides", run: () => open("overrides") },
    { keys: "Escape", does: "Close the flag", run: close },
  ]);
}
