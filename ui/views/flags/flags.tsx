import { useEffect, useMemo, useRef } from "preact/hooks";
import { compareText } from "../../../src/kernel/base/text.ts";
import type { FlagTotal, FlagTotals } from "../../../src/service/flags/decision-shapes.ts";
import type { FlagSummary as Flag } from "../../../src/service/flags/shapes.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { stepKeys, useKeys } from "../../app/keyboard.ts";
import { go, link, project, route, withParams } from "../../app/location.ts";
import { numberIn } from "../../app/route.ts";
import { projectName, useCounted, worldRevision } from "../../app/sim.ts";
import { Badge, Button, Scrolled, Trouble } from "../../parts/basics.tsx";
import { Shares } from "../../parts/flag-trace/shares.tsx";
import { valueText, valueTone } from "../../parts/flag-trace/trace-words.ts";
import { Split, Table } from "../../parts/layout.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { undefinedFlags } from "../../parts/undefined-flags.ts";
import { type Tallies, talliesIn } from "./decision-data.ts";
import { FlagBadges, FlagDetails } from "./details.tsx";
import { NoFlags } from "./empty.tsx";

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
  const defined = list.data?.flags ?? [];
  const flags = useMemo(() => withUndefined(defined, totals?.flags ?? []), [list.data, totals]);
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
      isWide
    />
  );
}

function useFlagKeys(flags: readonly Flag[], key: string | undefined, owner: number | undefined, tab?: string) {
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

interface ListProps {
  flags: readonly Flag[];
  /** Flags that match the search. */
  shown: readonly Flag[];
  tallies: Tallies;
  chosen: { key: string; project: number | undefined } | undefined;
  search: string;
  onSearch(text: string): void;
  isExact: boolean;
}

const holds = (flag: Flag, text: string): boolean =>
  [flag.key, flag.name].some((it) => it.toLowerCase().includes(text.trim().toLowerCase()));

function FlagList(props: ListProps) {
  const { flags, shown, search, onSearch } = props;
  const severalProjects = new Set(flags.map((it) => it.project)).size > 1;
  return (
    <>
      <div class="row toolbar">
        <input
          id="flags-search"
          class="input flags-search"
          type="search"
          placeholder="Search flags"
          aria-label="Search flags"
          value={search}
          onInput={(event) => onSearch(event.currentTarget.value)}
        />
        {search.trim() !== "" && !flags.some((it) => it.key === search.trim()) && (
          <Button onClick={() => go(link("flags", [search.trim()], { tab: "overrides" }))}>
            Override "{plain(search.trim(), 40)}"
          </Button>
        )}
        <span class="muted" role="status">
          {shown.length === flags.length ? counted(flags.length, "flag") : `${shown.length} of ${flags.length} flags`}
        </span>
      </div>
      <Scrolled class="flags-scroll" label="Flags">
        <Table class="flags-table" columns={["Flag", ["Rules", "flags-wide"], ["Variants", "flags-wide"], "Decisions"]}>
          {shown.map((it) => (
            <Row key={`${it.project}/${it.key}`} flag={it} isProjectShown={severalProjects} {...props} />
          ))}
        </Table>
        {shown.length === 0 && search !== "" && <p class="muted flags-none">No flag’s key or name contains this.</p>}
      </Scrolled>
    </>
  );
}

function Row({ flag, tallies, isExact, chosen, isProjectShown }: RowProps) {
  const isChosen = chosen?.key === flag.key && chosen.project === flag.project;
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isChosen) row.current?.scrollIntoView({ block: "nearest" });
  }, [isChosen]);
  return (
    <tr ref={row} class={isChosen ? "flags-row flags-row-chosen" : "flags-row"}>
      <td>
        <div class="row row-base">
          <a class="flags-key" href={flagHref(flag)} aria-current={isChosen ? "true" : undefined}>
            {plain(flag.key, 100)}
          </a>
          <FlagBadges flag={flag} isBrief />
          {isProjectShown && <span class="muted">{projectName(flag.project)}</span>}
        </div>
        <div class="flags-narrow flags-sentence muted">{plain(sentencesOf(flag)[0] ?? "", 300)}</div>
      </td>
      <td class="flags-wide">
        <Summary flag={flag} />
      </td>
      <td class="flags-wide">{flag.shares.length > 0 && <Shares shares={flag.shares} />}</td>
      <td>
        <Decided tally={tallies(flag.project, flag.key)} isExact={isExact} />
      </td>
    </tr>
  );
}

interface RowProps extends ListProps {
  flag: Flag;
  isProjectShown: boolean;
}

/** The list with what apps ask for and their projects do not have. */
const withUndefined = (flags: readonly Flag[], totals: readonly FlagTotal[]): readonly Flag[] => [
  ...flags,
  ...undefinedFlags(flags, totals)
    .sort((a, b) => a.project - b.project || compareText(a.key, b.key))
    .map(({ project, key }) => ({
      ...{ project, key, id: null, name: "", active: false, words: null },
      ...{ rules: [], variants: [], shares: [], overrides: [] },
    })),
];

/** Sentences about a flag's rules, most important first. */
const sentencesOf = ({ words, overrides }: Flag): readonly string[] =>
  words
    ? [...words.before, ...words.sets, ...(words.sets.length === 0 ? words.after.slice(0, 1) : [])]
    : [
        overrides.length > 0
          ? "The project has no such flag; it has overrides only."
          : "An app asks for it, and the project has no such flag.",
      ];

function Summary({ flag }: { flag: Flag }) {
  const sentences = sentencesOf(flag);
  const shown = sentences.slice(0, mostSentences);
  return (
    <>
      {shown.map((it, i) => (
        <div key={i} class="flags-sentence" title={plain(it, 1_000)}>
          {plain(it, 300)}
        </div>
      ))}
      {sentences.length > mostSentences && <span class="muted">and {sentences.length - mostSentences} more</span>}
    </>
  );
}

const mostSentences = 2;
const mostValues = 4;

/** Counts by value; lower bounds until counting is complete. */
function Decided({ tally, isExact }: { tally: ReturnType<Tallies>; isExact: boolean }) {
  if (!tally || (!isExact && tally.served + tally.called === 0)) return null;
  if (tally.served + tally.called === 0) return <span class="muted">no decisions</span>;
  const more = isExact ? "" : "+";
  return (
    <ul class="row row-wide flags-counts">
      {tally.values.slice(0, mostValues).map(({ value, served, called }) => (
        <li key={valueText(value)}>
          <Badge tone={valueTone(value)} isMarked={false}>
            {valueText(value)}
          </Badge>{" "}
          <span title={`given ${served}${more} times, used ${called}${more} times`}>
            ×{numberText(served)}
            {more}
            {called > 0 && (
              <span class="muted">
                {" "}
                used {numberText(called)}
                {more}
              </span>
            )}
          </span>
        </li>
      ))}
      {tally.values.length > mostValues && (
        <li class="muted">and {counted(tally.values.length - mostValues, "more value")}</li>
      )}
      {tally.differs > 0 && (
        <li>
          <Badge tone="odd">
            {numberText(tally.differs)}
            {more} differ
          </Badge>
        </li>
      )}
    </ul>
  );
}

/** Address of a flag; keeps the search. If all projects are shown, `of` is the flag's project. */
const flagHref = (flag: { readonly key: string; readonly project: number }, tab?: string): string =>
  link("flags", [flag.key], {
    of: project.value === undefined ? flag.project : undefined,
    q: route.value.params.q,
    tab,
  });
