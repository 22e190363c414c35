import { useEffect, useRef, useState } from "preact/hooks";
import type { FlagSeen, SeenRollout, SeenVariant } from "../../../src/service/flags/decision-shapes.ts";
import type { FlagInFull } from "../../../src/service/flags/shapes.ts";
import { query } from "../../api/call.ts";
import { useLast, useResource } from "../../api/resource.ts";
import { revision } from "../../app/sim.ts";
import { Icon } from "../../parts/icon.tsx";
import { OutcomeSign } from "../../parts/outcome.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { valuePieces } from "./bold.ts";

/** Evaluating thousands of ids takes a while: not again with each request. */
const pause = 3_000;

/** A value that follows another at most once in `pause`. */
function useCalm<T>(value: T): T {
  const [shown, setShown] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  const isBehind = shown !== value;
  useEffect(() => {
    if (!isBehind) return;
    const timer = setTimeout(() => setShown(latest.current), pause);
    return () => clearTimeout(timer);
  }, [isBehind, shown]);
  return shown;
}

/** What the rules give to the ids that were seen; undefined until known. */
export function useSeen({ id, key, project }: FlagInFull): FlagSeen | undefined {
  const path = id === null ? null : `flags/${encodeURIComponent(key)}/seen${query({ project })}`;
  return useLast(useResource<FlagSeen>(path, { revision: useCalm(revision.value) }).data);
}

const longest = 2_000;

/** A sentence with its values in bold. */
const Words = ({ text }: { text: string }) => (
  <>{valuePieces(plain(text, longest)).map((it, i) => (it.isValue ? <em key={i}>{it.text}</em> : it.text))}</>
);

interface SeenProps {
  flag: FlagInFull;
  seen: FlagSeen | undefined;
}

const countText = (taken: number, reached: number): string => `${numberText(taken)} of ${numberText(reached)}`;

/** The rules in words; at the right how many of the ids seen each took. */
export function WhoGets({ flag, seen }: SeenProps) {
  const { words } = flag;
  if (!words) return null;
  const rest = seen && [
    ...(seen.enrolled > 0 ? [`${numberText(seen.enrolled)} by early access`] : []),
    ...(seen.held_out > 0 ? [`${numberText(seen.held_out)} held out`] : []),
    ...(seen.failed > 0 ? [`${numberText(seen.failed)} cannot be computed`] : []),
  ];
  const isCounted = seen?.active && seen.ids > 0;
  return (
    <section class="flags-card" aria-labelledby="flags-who">
      <header class="row">
        <h3 id="flags-who">Who gets it</h3>
        <span class="small muted end">
          {seen && (seen.ids === 0 ? "no ids seen yet" : `${counted(seen.ids, "id")} seen`)}
          {seen && !seen.is_all && ", the newest"}
        </span>
      </header>
      {words.before.map((it, i) => (
        <p key={i} class="flags-rule">
          <span />
          <span>
            <Words text={it} />
          </span>
        </p>
      ))}
      <ol>
        {words.sets.map((it, i) => {
          const set = isCounted ? seen.sets[i] : undefined;
          return (
            <li key={i} class="flags-rule">
              <span class="faint num">{i + 1}</span>
              <span>
                {i > 0 && <span class="muted">Otherwise: </span>}
                <Words text={it} />
              </span>
              {set && (
                <span class="flags-taken num" title="Ids it gives the flag to, of those nothing before decided">
                  {countText(set.taken, set.reached)}
                </span>
              )}
            </li>
          );
        })}
      </ol>
      {words.sets.length > 0 && (
        <p class="flags-rule muted">
          <span />
          <span>
            Everyone else gets <em>{words.otherwise === undefined ? "false" : plain(words.otherwise, longest)}</em>.
          </span>
          {isCounted && <span class="flags-taken num">{numberText(seen.off)}</span>}
        </p>
      )}
      {rest && rest.length > 0 && isCounted && <p class="flags-note">{rest.join(", ")}.</p>}
      <div class="flags-note stack stack-tight">
        {[...words.after, ...words.cohorts].map((it, i) => (
          <p key={i}>
            <Words text={it} />
          </p>
        ))}
      </div>
    </section>
  );
}

/** `± 20`, or the band where it is not symmetric. */
const bandText = ({ expected, low, high }: Pick<SeenVariant, "expected" | "low" | "high">): string => {
  const [under, over] = [expected - low, high - expected];
  const middle = numberText(Math.round(expected));
  return Math.abs(under - over) <= 1
    ? `${middle} ± ${numberText(Math.round(Math.max(under, over)))}`
    : `${middle}, ${numberText(low)} to ${numberText(high)}`;
};

const verdictTexts = {
  as_expected: "as expected",
  unlikely: "outside of what 95 of 100 fair splits give",
  too_few: "too few ids to tell",
} as const;

const Verdict = ({ of, isBrief = false }: { of: SeenVariant["verdict"]; isBrief?: boolean }) => (
  <span class={`row row-tight flags-verdict${of === "unlikely" ? " outcome-warned" : ""}`}>
    {of === "as_expected" && <Icon of="tick" />}
    {of === "unlikely" && <OutcomeSign of="warned" />}
    <span class={isBrief && of === "as_expected" ? "unseen" : undefined}>
      {isBrief && of === "unlikely" ? "unlikely" : verdictTexts[of]}
    </span>
  </span>
);

const percent = (share: number): string => `${Number((share * 100).toFixed(1))} %`;

/** Height of the highest bar, and width of one with its gap. */
const [tall, wide, gap] = [100, 40, 4] as const;

/** The hashes of what was seen, in twentieths, against the threshold. */
function Histogram({ index, rollout }: { index: number; rollout: SeenRollout }) {
  const { bins, threshold, count, within, unit, percentage } = rollout;
  const most = Math.max(1, ...bins);
  const edge = threshold * bins.length * wide;
  const units = `${plain(unit, 60)}s`;
  const text = `Set ${index + 1}: hashes of the ${numberText(count)} ${units} seen, in steps of 0.05: ${bins.join(", ")}. ${numberText(within)} lie below the threshold ${Number(threshold.toFixed(6))}.`;
  const isRight = threshold > 0.75;
  return (
    <div class="flags-plot">
      <svg viewBox={`0 0 ${bins.length * wide} ${tall}`} preserveAspectRatio="none" role="img" aria-label={text}>
        {bins.map((it, i) => {
          const [from, size] = [i * wide + gap / 2, wide - gap];
          const height = (it / most) * tall;
          const inside = Math.max(0, Math.min(size, edge - from));
          const at = { y: tall - height, height };
          return (
            <g key={i}>
              <title>{`${(i / 20).toFixed(2)} to ${((i + 1) / 20).toFixed(2)}: ${counted(it, plain(unit, 60))}`}</title>
              {inside > 0 && <rect class="flags-in" x={from} width={inside} {...at} />}
              {inside < size && <rect class="flags-out" x={from + inside} width={size - inside} {...at} />}
            </g>
          );
        })}
      </svg>
      <span class="flags-threshold" style={{ insetInlineStart: `${threshold * 100}%` }}>
        <span class={isRight ? "flags-threshold-before" : undefined}>rollout {percentage} %</span>
      </span>
      <div class="flags-scale" aria-hidden="true">
        {[0, 0.25, 0.5, 0.75].map((it) => (
          <span key={it} style={{ insetInlineStart: `${it * 100}%` }}>
            {it}
          </span>
        ))}
        <span style={{ insetInlineStart: "100%" }}>hash 1</span>
      </div>
    </div>
  );
}

function RolloutFigure({ index, rollout }: { index: number; rollout: SeenRollout }) {
  const { count, within, without, unit, verdict } = rollout;
  const name = plain(unit, 60);
  return (
    <div class="stack">
      <Histogram index={index} rollout={rollout} />
      <p class="row row-wide small">
        <span class="row row-tight">
          <span class="flags-key-in" aria-hidden="true" />
          <b class="num">{numberText(within)}</b> in{count > 0 && `, ${percent(within / count)}`}
        </span>
        <span class="row row-tight">
          <span class="flags-key-out" aria-hidden="true" />
          <b class="num">{numberText(count - within)}</b> out
        </span>
        <span class="muted num">
          {counted(count, name)} seen · expected {bandText(rollout)}
        </span>
        <span class="end">
          <Verdict of={verdict} />
        </span>
      </p>
      {without > 0 && (
        <p class="small muted">{`${counted(without, "id")} without a ${name}: there is nothing to hash.`}</p>
      )}
    </div>
  );
}

const mostFigures = 6;

/** Where the hashes of the ids seen lie, for each condition set with a rollout. */
export function Rollout({ seen }: { seen: FlagSeen | undefined }) {
  const sets = (seen?.sets ?? []).flatMap(({ index, rollout }) => (rollout ? [{ index, rollout }] : []));
  if (sets.length === 0) return null;
  return (
    <section class="flags-card" aria-labelledby="flags-rollout">
      <header class="row">
        <h3 id="flags-rollout">Rollout</h3>
        <span class="small muted">where the hashes of the ids lie</span>
      </header>
      <div class="stack stack-loose flags-card-in">
        {sets.slice(0, mostFigures).map(({ index, rollout }) => (
          <div key={index} class="stack">
            {(seen?.sets.length ?? 0) > 1 && <h4 class="small">Set {index + 1}</h4>}
            <RolloutFigure index={index} rollout={rollout} />
          </div>
        ))}
        {sets.length > mostFigures && (
          <p class="small muted">and {counted(sets.length - mostFigures, "more set")} with a rollout</p>
        )}
      </div>
    </section>
  );
}

const mostVariants = 30;

/** Largest difference that the band hides, in percentage points. */
const blindTo = (count: number, rows: readonly SeenVariant[]): number =>
  count === 0 ? 100 : Math.max(...rows.map(({ expected, high }) => ((high - expected) / count) * 100));

/** How many drew each variant, against its share. */
export function VariantSplit({ seen }: { seen: FlagSeen | undefined }) {
  const variants = seen?.variants;
  if (!variants) return null;
  const { rows, count, unit } = variants;
  const most = Math.max(1, ...rows.map(({ seen: it, high }) => Math.max(it, high))) * 1.05;
  const place = (it: number): string => `${((it / most) * 100).toFixed(2)}%`;
  const units = `${plain(unit, 60)}s`;
  return (
    <section class="flags-card" aria-labelledby="flags-variants">
      <header class="row">
        <h3 id="flags-variants">Variants</h3>
        <span class="small muted">seen against expected</span>
      </header>
      <div class="stack flags-card-in">
        <ul class="stack flags-split">
          {rows.slice(0, mostVariants).map((it) => {
            const name = it.variant === null ? "no variant" : plain(it.variant, 60);
            return (
              <li key={it.variant === null ? "" : `of ${it.variant}`}>
                <span class={it.variant === null ? "muted cut" : "mono cut"} title={name}>
                  {name}
                </span>
                <span
                  class="flags-split-bar"
                  role="img"
                  aria-label={`${name}: ${it.seen} seen, ${bandText(it)} expected, ${verdictTexts[it.verdict]}`}
                >
                  <i style={{ inlineSize: place(it.seen) }} />
                  <span
                    class="flags-band"
                    style={{ insetInlineStart: place(it.low), inlineSize: place(it.high - it.low) }}
                  />
                </span>
                <span class="row row-tight num">
                  <b>{numberText(it.seen)}</b>
                  <span class="muted">exp. {bandText(it)}</span>
                  <Verdict of={it.verdict} isBrief />
                </span>
              </li>
            );
          })}
        </ul>
        {rows.length > mostVariants && (
          <p class="small muted">and {counted(rows.length - mostVariants, "more variant")}</p>
        )}
        <p class="small muted">
          {count === 0
            ? "No id seen has drawn a variant yet."
            : `The grey band is where 95 of 100 fair splits end. ${numberText(count)} ${units} are too few to see a bias below ${Math.ceil(blindTo(count, rows))} points.`}
        </p>
      </div>
    </section>
  );
}
