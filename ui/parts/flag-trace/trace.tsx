import type { ComponentChildren } from "preact";
import { actualWords, missWords } from "../../../src/service/flags/explain/trace-words.ts";
import type {
  ConditionTrace,
  FlagExplanation as Explanation,
  PropertyTrace,
  RuleTrace,
  TreeTrace,
} from "../../../src/service/flags/shapes.ts";
import { Badge } from "../basics.tsx";
import { plain, type Tone } from "../text.ts";
import { HashBar, VariantBar } from "./shares.tsx";
import { type SetState, stateOf, valueText, valueTone } from "./trace-words.ts";

function Mark({ passed }: { passed: boolean }) {
  return (
    <span class={passed ? "flags-mark good" : "flags-mark bad"}>
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
        {plain(trace.words)} <span class="muted">— {plain(actualWords(trace))}</span>
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
      <span>{tree.values.length === 0 ? "everyone" : tree.type === "AND" ? "all of these" : "any of these"}</span>
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

/** The holdout of an experiment rule. */
function RuleHoldout({ holdout }: { holdout: RuleTrace["holdout"] | undefined }) {
  if (!holdout) return null;
  const { percentage, held_out, hash, threshold } = holdout;
  return (
    <li>
      <Mark passed={!held_out} />
      <span>{percentage} % are held out</span>
      {hash && <HashBar hash={hash} threshold={threshold} isWithin={held_out} what="holdout" />}
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
      {variant.forced !== null && <span>variant {valueText(variant.forced)}, set by the condition</span>}
      {variant.forced === null && variant.hash && <VariantBar ranges={variant.ranges} hash={variant.hash} />}
    </li>
  );
}

interface CardProps {
  title: string;
  tone: Tone;
  /** The result of this step. */
  state: string;
  note?: string | undefined;
  children: ComponentChildren;
}

/** A step of the evaluation with its conditions. */
function Card({ title, tone, state, note, children }: CardProps) {
  return (
    <li class="flags-set">
      <div class="row row-base">
        <h4>{title}</h4>
        <Badge tone={tone}>{state}</Badge>
        {note !== undefined && <span class="muted">{note}</span>}
      </div>
      <ul class={state === "not reached" ? "flags-trace muted" : "flags-trace"}>{children}</ul>
    </li>
  );
}

function ConditionSet({ trace, sentence }: { trace: ConditionTrace; sentence: string | undefined }) {
  const state = stateOf(trace);
  const miss = missWords(trace);
  return (
    <Card
      title={`${trace.rule ? "Rule" : "Set"} ${trace.index + 1}`}
      tone={stateTones[state]}
      state={state}
      note={sentence && plain(sentence, 1_000)}
    >
      {miss !== undefined && (
        <li>
          <Mark passed={false} />
          <span>{plain(miss)}</span>
        </li>
      )}
      <Properties traces={trace.properties} />
      <RuleHoldout holdout={trace.rule?.holdout} />
      <Rollout rollout={trace.rollout} />
      <Variant variant={trace.variant} />
    </Card>
  );
}

function Enrollment({ enrollment }: Pick<Explanation, "enrollment">) {
  if (!enrollment) return null;
  const { decided, properties } = enrollment;
  return (
    <Card title="Early access" tone={decided ? "good" : "plain"} state={decided ? "decides" : "does not decide"}>
      <Properties traces={properties} />
    </Card>
  );
}

function Holdout({ holdout }: Pick<Explanation, "holdout">) {
  if (!holdout) return null;
  const { held_out, hash, threshold, variant, percentage } = holdout;
  return (
    <Card
      title={`Holdout ${valueText(variant)}`}
      tone={held_out ? "odd" : "plain"}
      state={held_out ? "held out" : "not held out"}
      note={`${percentage} % are held out`}
    >
      {hash && (
        <li>
          <HashBar hash={hash} threshold={threshold} isWithin={held_out} what="holdout" />
        </li>
      )}
    </Card>
  );
}

function Head({ explanation }: { explanation: Explanation }) {
  const { rule } = explanation;
  return (
    <div class="row row-base">
      <Badge tone={explanation.failed ? "odd" : valueTone(explanation.value)}>{valueText(explanation.value)}</Badge>
      <span>
        for <strong>{plain(explanation.distinct_id, 100)}</strong>:{" "}
        {plain(rule?.description ?? explanation.reason.description)}
      </span>
      {explanation.payload !== null && (
        <span>
          payload <code>{plain(explanation.payload, 300)}</code>
        </span>
      )}
    </div>
  );
}

function Overridden({ override, by_rules }: Pick<Explanation, "override" | "by_rules">) {
  if (!override) return null;
  const subject = override.distinct_id === null ? "all users" : "this distinct id";
  return (
    <p class="row row-wide row-base">
      <Badge tone="note">overridden</Badge>
      <span>
        for {subject}.{" "}
        {by_rules
          ? `Its rules give ${valueText(by_rules.value)}: ${plain(by_rules.reason.description)}.`
          : "The project has no such flag."}
      </span>
    </p>
  );
}

/** Steps of an evaluation. `sentences` are the condition sets in words. */
export function Trace({ explanation, sentences, hasHead = true }: TraceProps) {
  return (
    <div class="stack stack-wide flags-why">
      {hasHead && <Head explanation={explanation} />}
      <Overridden override={explanation.override} by_rules={explanation.by_rules} />
      <ol class="stack">
        <Enrollment enrollment={explanation.enrollment} />
        <Holdout holdout={explanation.holdout} />
        {explanation.conditions.map((it) => (
          <ConditionSet key={it.index} trace={it} sentence={sentences[it.index]} />
        ))}
      </ol>
      {explanation.hint !== null && explanation.hint !== "" && (
        <div class="aside">
          <h4>{explanation.override ? "Why not by rules" : "Why not"}</h4>
          {explanation.hint.split("\n").map((line) => (
            <p key={line}>{plain(line, 1_000)}</p>
          ))}
        </div>
      )}
    </div>
  );
}

interface TraceProps {
  explanation: Explanation;
  sentences: readonly string[];
  /** False where the value and its reason stand above. */
  hasHead?: boolean;
}
