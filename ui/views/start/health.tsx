import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { LintPage } from "../../../src/lab/lint/shapes.ts";
import type { Problems } from "../../../src/sim/problem-shapes.ts";
import type { Histogram } from "../../../src/state/journal/histogram-answer.ts";
import { type Outcome, outcomes } from "../../../src/state/journal/outcomes.ts";
import { mayCarryEvents } from "../../../src/state/journal/sdk-paths.ts";
import type { SdkTotals } from "../../../src/state/journal/sdk-shapes.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link, project } from "../../app/location.ts";
import { markSeen, news, problems } from "../../app/problem-news.ts";
import { figureText, info, type Totals, useCounted } from "../../app/sim.ts";
import { greetings } from "../../feed/socket.ts";
import { Prose } from "../../parts/basics.tsx";
import { Icon } from "../../parts/icon.tsx";
import { OutcomeSign } from "../../parts/outcome.tsx";
import { numberText } from "../../parts/text.ts";
import { Names, Senders } from "./arrivals.tsx";
import { Card } from "./card.tsx";
import { FlagsCard } from "./flags-card.tsx";
import { Linter } from "./linter.tsx";
import { WhatIsLost } from "./problems.tsx";
import { type Step, stepsFor } from "./steps.ts";
import { aboutText, type Figures, figuresOf, shareText, verdictOf } from "./verdict.ts";

/** The problems that were new when the view was opened, or came since. What is shown counts as seen. */
function useFresh(): ReadonlySet<string> {
  const shown = problems.value;
  const of = shown?.of;
  const fresh = useRef({ of, keys: new Set<string>() });
  if (fresh.current.of !== of) fresh.current = { of, keys: new Set() };
  const { keys } = fresh.current;
  for (const it of news.value) keys.add(it);
  useEffect(() => {
    const look = () => {
      if (shown && !document.hidden) markSeen(shown);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [shown]);
  return keys;
}

/** Between two calls while the linter has events left to read, and after that, ms. */
const lintPauses = [500, 5_000] as const;
const patience = 200;

function useLint(): LintPage | undefined {
  return useResource<LintPage>(`lint${query({ project: project.value, max_ms: patience })}`, {
    revision: greetings.value,
    again: (it) => (it && it.behind === 0 ? lintPauses[1] : lintPauses[0]),
  }).data;
}

/** @param what Method and path */
function mayCarry(what: string): boolean {
  const [method = "", target = ""] = what.split(" ", 2);
  return mayCarryEvents({ method, target });
}

const none: Problems = { complete: true, counting: false, events: [], requests: [], other_requests: 0 };

/** What arrives, what is lost and why, and what to do next. */
export function Health({ totals, ways }: { totals: Totals; ways: ComponentChildren }) {
  const fresh = useFresh();
  const page = useLint();
  const { data: sdks } = useCounted<SdkTotals>(`sdks${query({ project: project.value })}`, (it) => it.counting);
  const found = problems.value?.data ?? none;
  const dropped = found.events.filter((it) => it.dropped > 0).length;
  const rejected = found.requests.filter(({ what }) => mayCarry(what)).length;
  const lossy = dropped + rejected;
  const figures = figuresOf(totals);
  return (
    <div class="start">
      <Verdict
        figures={figures}
        ways={ways}
        about={aboutText({
          lossy,
          others: found.requests.length - rejected,
          warned: found.events.length - dropped,
          news: fresh.size,
          findings: page?.findings.length ?? 0,
        })}
      />
      <FigureTiles figures={figures} />
      <div class="start-columns">
        <div class="stack stack-loose">
          <WhatIsLost problems={found} fresh={fresh} reload={() => problems.value?.reload()} />
          <Linter page={page} />
          <Names events={totals.events} />
        </div>
        <div class="stack stack-loose">
          <Senders totals={sdks} />
          <FlagsCard />
          <Steps
            steps={stepsFor({
              events: totals.events,
              sdks: sdks?.sdks ?? [],
              scenario: info.value?.scenario ?? "",
              isLossy: lossy > 0,
            })}
            last={totals.events.names[0]?.last}
          />
        </div>
      </div>
    </div>
  );
}

interface VerdictProps {
  figures: Figures;
  about: string;
  ways: ComponentChildren;
}

function Verdict({ figures, about, ways }: VerdictProps) {
  const { of, sentence } = verdictOf(figures);
  return (
    <section class="start-verdict" aria-label="Verdict">
      {of === undefined ? <Icon of="start" /> : <OutcomeSign of={of} />}
      <div role="status">
        <h2>{sentence}</h2>
      </div>
      {ways}
      <p class="muted">
        {about}{" "}
        {figures.isExact ? "Counted over everything that arrived." : "Still counting: there are at least as many."}
      </p>
    </section>
  );
}

const tiles: readonly {
  readonly of: Outcome;
  readonly view: string;
  readonly filter: string;
  about(figures: Figures): string;
}[] = [
  {
    of: "kept",
    view: "events",
    filter: "is:kept",
    about: ({ kept, total }) => `${shareText(kept, total)} of ${numberText(total)} events`,
  },
  { of: "warned", view: "events", filter: "is:warned", about: () => "kept, but changed or doubtful" },
  { of: "dropped", view: "events", filter: "is:dropped", about: () => "lost, though answered" },
  {
    of: "rejected",
    view: "requests",
    filter: "is:rejected",
    about: ({ requests }) => `whole requests of ${numberText(requests)}`,
  },
];

/** Bars of a tile, and the height of the highest one. */
const [bars, height] = [40, 20] as const;

/** When they arrived, the oldest at the left; the figure above says how many. */
function Bars({ of, values }: { of: Outcome; values: readonly number[] }) {
  const most = Math.max(1, ...values);
  const bar = (value: number, i: number) => {
    const size = Math.max(2, (value / most) * height);
    return value === 0 ? "" : `M${i} ${(height - size).toFixed(1)}h.8V${height}h-.8z`;
  };
  return (
    <svg
      class={`start-bars start-bars-${of}`}
      viewBox={`0 0 ${Math.max(bars, values.length)} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={values.map(bar).join("")} />
    </svg>
  );
}

function FigureTiles({ figures }: { figures: Figures }) {
  const { data: when } = useCounted<Histogram>(
    `feed/histogram${query({ project: project.value, buckets: bars })}`,
    (it) => it.counting,
  );
  return (
    <div class="start-card start-tiles">
      {tiles.map(({ of, view, filter, about }) => (
        <a key={of} href={link(view, [], { f: filter })} title={outcomes[of].means}>
          <span class={`start-outcome outcome-${of}`}>
            <OutcomeSign of={of} /> {of}
          </span>
          <span class="start-figure">{figureText(figures[of], figures.isExact)}</span>
          <small>{about(figures)}</small>
          {of !== "rejected" && <Bars of={of} values={when?.[of] ?? []} />}
        </a>
      ))}
    </div>
  );
}

/** Where a step leads. */
const targets: Readonly<Partial<Record<Step["id"], (last: number | undefined) => string>>> = {
  test: (last) => link("events", last === undefined ? [] : [last]),
};

const Steps = ({ steps, last }: { steps: readonly Step[]; last: number | undefined }) => (
  <Card title="Next steps">
    <ol class="start-steps">
      {steps.map(({ id, isDone, text }) => {
        const href = isDone ? undefined : targets[id]?.(last);
        return (
          <li key={id} class={isDone ? "muted" : undefined}>
            <Icon of={isDone ? "done" : "todo"} />
            <span>
              <span class="unseen">{isDone ? "Done: " : "To do: "}</span>
              <Prose text={text} /> {href !== undefined && <a href={href}>Open</a>}
            </span>
          </li>
        );
      })}
    </ol>
  </Card>
);
