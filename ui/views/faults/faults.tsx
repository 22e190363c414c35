import { useSignal } from "@preact/signals";
import type { Fault, FaultPreset } from "../../../src/lab/faults/shapes.ts";
import { call } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { revision } from "../../app/sim.ts";
import { useAction } from "../../app/use-action.ts";
import { stat } from "../../feed/socket.ts";
import { Badge, Button, Code, Section, Time, Trouble } from "../../parts/basics.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { type Limits, limitsOf, touchedBy } from "./order.ts";
import { LimitFields, RuleForm } from "./rule-form.tsx";

/** Active faults, presets, and a form for a rule. */
export function FaultsView() {
  const known = `${revision.value}/${stat.value?.faults.join()}`;
  const faults = useResource<{ faults: Fault[] }>("faults", { revision: known });
  const { problem, run } = useAction();
  const act = async (method: string, path: string, body?: unknown) => {
    await run(call(method, path, body));
    faults.reload();
  };
  const trouble = problem ?? faults.problem;
  return (
    <div class="faults">
      {trouble && <Trouble problem={trouble} />}
      <InForce faults={faults.data?.faults ?? []} onClear={(id) => act("DELETE", `faults${id}`)} />
      <Presets onApply={(order) => act("POST", "faults", order)} />
      <Section title="Custom fault">
        <RuleForm onApply={(order) => act("POST", "faults", order)} />
      </Section>
    </div>
  );
}

const states = {
  active: { tone: "bad", text: "active" },
  used_up: { tone: "plain", text: "used up" },
  expired: { tone: "plain", text: "expired" },
} as const;

function InForce({ faults, onClear }: { faults: readonly Fault[]; onClear: (path: string) => void }) {
  const active = faults.filter((it) => it.state === "active").length;
  const title = active === 0 ? "No active faults" : `${counted(active, "active fault")}`;
  if (faults.length === 0) {
    return (
      <Section title={title}>
        <p class="lead">
          Apply a preset to see how your app handles failures: flags that fail, capture that is down, late responses. A
          response that a fault changed is marked, here and in its <code>x-phx-source</code> header.
        </p>
        <Code label="In a test or a terminal" text={commands} />
      </Section>
    );
  }
  return (
    <Section
      title={title}
      actions={
        <Button kind="danger" onClick={() => onClear("")}>
          Clear all
        </Button>
      }
    >
      <ul class="stack stack-wide faults-list">
        {faults.map((it) => (
          <li key={it.id}>
            <Badge tone={states[it.state].tone}>{states[it.state].text}</Badge>
            <div class="stack faults-rule">
              <strong>{plain(it.name)}</strong>
              <span>{plain(it.text)}</span>
              <span class="muted">
                since <Time at={it.since} /> ·{" "}
                <a href={link("requests", [], { f: touchedBy(it.name) })}>{counted(it.used, "request")} affected</a>
                {it.times !== null && ` of ${numberText(it.times)}`}
              </span>
            </div>
            <Button onClick={() => onClear(`/${encodeURIComponent(it.id)}`)} aria-label={`Clear ${plain(it.name)}`}>
              Clear
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const commands =
  'await sim.faults.apply("flags-partial", { times: 2 })\n\nphx-sim faults apply flags-partial --times 2';

function Presets({ onApply }: { onApply: (order: Record<string, unknown>) => void }) {
  const { data } = useResource<{ presets: FaultPreset[] }>("faults/presets");
  const limits = useSignal<Limits>({});
  return (
    <Section title="Presets">
      <LimitFields
        value={limits.value}
        onChange={(it) => {
          limits.value = it;
        }}
      />
      <ul class="cards faults-presets">
        {data?.presets.map(({ name, describe }) => (
          <li key={name} class="card">
            <div>
              <strong>{name}</strong>
              <p class="muted">{describe}</p>
            </div>
            <Button aria-label={`Apply ${name}`} onClick={() => onApply({ preset: name, ...limitsOf(limits.value) })}>
              Apply
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
