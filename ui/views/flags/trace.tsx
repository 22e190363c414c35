import { Badge } from "../../parts/basics.tsx";
import { plain } from "../../parts/text.ts";
import type { Tone } from "../../parts/tone.ts";
import type { ConditionTrace, Explanation, PropertyTrace, TreeTrace } from "./answers.ts";
import { HashBar, VariantBar } from "./shares.tsx";
import { actualWords, missWords, type SetState, stateOf } from "./trace-words.ts";
import { valueText, valueTone } from "./value.ts";

/** Yes or no, for eyes and for screen readers. */
function Mark({ passed }: { passed: boolean }) {
  return (
    <span class={passed ? "flags-mark flags-yes" : "flags-mark flags-no"}>
      <span aria-hidden="true">{passed ? "✓" : "✕"}</span>
      <span class="unseen">{passed ? "passed: " : "failed: "}</span>
    </span>
  );
}

function Property({ trace }: { trace: PropertyTrace }) {
  const tree = trace.cohort?.tree;
  return (
    <li>
      <Mark passed={trace.passed} />
      <span>
        {plain(trace.words)} <span class="muted">— {actualWords(trace)}</span>
      </span>
      {tree && (
        <ul class="flags-trace">
          <Tree tree={tree} />
        </ul>
      )}
    </li>
  );
}

function Tree({ tree }: { tree: TreeTrace }) {
  if ("operator" in tree) return <Property trace={tree} />;
  return (
    <li>
      <Mark passed={tree.passed} />
      <span>
        {tree.values.length === 0 ? "everyone" : tree.type === "AND" ? "all of these" : "any of these"}
      </span>
      <ul class="flags-trace">
        {tree.values.map((it, i) => (
          <Tree key={i} tree={it} />
        ))}
      </ul>
    </li>
  );
}

function Properties({ traces }: { traces: readonly PropertyTrace[] }) {
  return traces.map((it, i) => <Property key={i} trace={it} />);
}

const stateTones: Readonly<Record<SetState, Tone>> = {
  matched: "good",
  missed: "bad",
  failed: "odd",
  "not reached": "plain",
};

function Rollout({ rollout }: Pick<ConditionTrace, "rollout">) {
  if (!rollout) return null;
  const { hash, percentage, passed, threshold } = rollout;
  return (
    <li>
      <Mark passed={passed} />
      <span>rollout {percentage} %</span>
      {hash ? (
        <HashBar hash={hash} threshold={threshold} isWithin={passed} what="rollout" />
      ) : (
        <span class="muted">— everyone</span>
      )}
    </li>
  );
}

function Variant({ variant }: Pick<ConditionTrace, "variant">) {
  if (!variant) return null;
  return (
    <li>
      <span class="flags-mark" aria-hidden="true">
        →
      </span>
      {variant.forced !== null && <span>variant {valueText(variant.forced)}, which the set names</span>}
      {variant.forced === null && variant.hash && <VariantBar ranges={variant.ranges} hash={variant.hash} />}
    </li>
  );
}

function ConditionSet({ trace, sentence }: { trace: ConditionTrace; sentence: string | undefined }) {
  const state = stateOf(trace);
  const miss = missWords(trace);
  return (
    <li class={state === "not reached" ? "flags-set flags-set-unreached" : "flags-set"}>
      <div class="flags-set-head">
        <h4>Set {trace.index + 1}</h4>
        <Badge tone={stateTones[state]}>{state}</Badge>
        {sentence !== undefined && <span class="muted">{plain(sentence, 1_000)}</span>}
      </div>
      <ul class="flags-trace">
        {miss !== undefined && (
          <li>
            <Mark passed={false} />
            <span>{miss}</span>
          </li>
        )}
        <Properties traces={trace.properties} />
        <Rollout rollout={trace.rollout} />
        <Variant variant={trace.variant} />
      </ul>
    </li>
  );
}

function Enrollment({ enrollment }: Pick<Explanation, "enrollment">) {
  if (!enrollment) return null;
  return (
    <li class="flags-set">
      <div class="flags-set-head">
        <h4>Early access</h4>
        <Badge tone={enrollment.decided ? "good" : "plain"}>
          {enrollment.decided ? "decides" : "does not decide"}
        </Badge>
      </div>
      <ul class="flags-trace">
        <Properties traces={enrollment.properties} />
      </ul>
    </li>
  );
}

function Holdout({ holdout }: Pick<Explanation, "holdout">) {
  if (!holdout) return null;
  const { held_out, hash, threshold, variant, percentage } = holdout;
  return (
    <li class="flags-set">
      <div class="flags-set-head">
        <h4>Holdout {valueText(variant)}</h4>
        <Badge tone={held_out ? "odd" : "plain"}>{held_out ? "held out" : "not held out"}</Badge>
        <span class="muted">{percentage} % are held out</span>
      </div>
      {hash && (
        <ul class="flags-trace">
          <li>
            <HashBar hash={hash} threshold={threshold} isWithin={held_out} what="holdout" />
          </li>
        </ul>
      )}
    </li>
  );
}

function Head({ told }: { told: Explanation }) {
  return (
    <div class="flags-verdict">
      <Badge tone={told.failed ? "odd" : valueTone(told.value)}>{valueText(told.value)}</Badge>
      <span>
        for <strong>{plain(told.distinct_id, 100)}</strong>: {plain(told.reason.description)}
      </span>
      {told.payload !== null && (
        <span>
          payload <code>{plain(told.payload, 300)}</code>
        </span>
      )}
    </div>
  );
}

function Overridden({ override, by_rules }: Pick<Explanation, "override" | "by_rules">) {
  if (!override) return null;
  const whom = override.distinct_id === null ? "everybody" : "this distinct id";
  return (
    <p class="flags-note">
      <Badge tone="note">overridden</Badge>
      <span>
        for {whom}.{" "}
        {by_rules
          ? `Its rules say ${valueText(by_rules.value)}: ${plain(by_rules.reason.description)}.`
          : "The project has no such flag."}
      </span>
    </p>
  );
}

/** Why somebody gets a flag's value, step by step. `sentences` are the condition sets in words. */
export function Trace({ told, sentences }: { told: Explanation; sentences: readonly string[] }) {
  return (
    <div class="flags-why">
      <Head told={told} />
      <Overridden override={told.override} by_rules={told.by_rules} />
      <ol class="flags-sets">
        <Enrollment enrollment={told.enrollment} />
        <Holdout holdout={told.holdout} />
        {told.conditions.map((it) => (
          <ConditionSet key={it.index} trace={it} sentence={sentences[it.index]} />
        ))}
      </ol>
      {told.hint !== null && told.hint !== "" && (
        <div class="flags-hint">
          <h4>{told.override ? "Why not by its rules" : "Why not"}</h4>
          {told.hint.split("\n").map((line) => (
            <p key={line}>{plain(line, 1_000)}</p>
          ))}
        </div>
      )}
    </div>
  );
}
