import { useState } from "preact/hooks";
import type {
  DecidedFlag,
  FlagDecision as Decision,
  FlagDecisions as Decisions,
  FlagCall,
} from "../../../src/service/flags/decision-shapes.ts";
import type { FlagSummary as Flag } from "../../../src/service/flags/shapes.ts";
import { call, problemOf, query, type SimProblem } from "../../api/call.ts";
import { useExplanation } from "../../api/explanation.ts";
import { go, link, route, withParams } from "../../app/location.ts";
import { worldRevision } from "../../app/sim.ts";
import { Badge, Button, Section, Time, Trouble } from "../../parts/basics.tsx";
import { Trace } from "../../parts/flag-trace/trace.tsx";
import {
  clientWords,
  isOverridden,
  reasonWords,
  sinceWords,
  subjectOf,
  valueText,
  valueTone,
} from "../../parts/flag-trace/trace-words.ts";
import { plain } from "../../parts/text.ts";
import { withOlder } from "./decision-data.ts";

const idOf = ({ request, seq }: Decision): string => (seq === null ? String(request) : `${request}-${seq}`);

const flagIn = ({ flags }: Decision, key: string): DecidedFlag | undefined => flags.find((it) => it.key === key);

/** Decisions as they happen; an expanded one shows its explanation. */
export function DecisionsTab({ flag, loaded }: { flag: Flag; loaded: Decisions | undefined }) {
  const open = route.value.params.decision;
  const older = useOlder(flag, loaded);
  if (!loaded) return null;
  const decisions = withOlder(loaded.decisions, older.decisions);
  if (decisions.length === 0 && older.before === null) {
    return (
      <Section title="No decisions yet">
        <p class="muted">Each response with this flag appears here, with its reason and its use by the app.</p>
      </Section>
    );
  }
  return (
    <>
      <ul class="flags-decisions" aria-label="Decisions, newest first">
        {decisions.map((it) => (
          <DecisionRow key={idOf(it)} decision={it} flag={flag} isOpen={idOf(it) === open} />
        ))}
      </ul>
      {older.problem && <Trouble problem={older.problem} />}
      {older.before !== null && (
        <p class="row flags-older">
          <Button onClick={older.load}>Load older</Button>
          <span class="muted">before request {older.before}</span>
        </p>
      )}
    </>
  );
}

function DecisionRow({ decision, flag, isOpen }: { decision: Decision; flag: Flag; isOpen: boolean }) {
  const decided = flagIn(decision, flag.key);
  const toggle = () => go(withParams({ decision: isOpen ? undefined : idOf(decision) }), true);
  return (
    <li class="flags-decision">
      <button type="button" class="row row-wide flags-decision-head" aria-expanded={isOpen} onClick={toggle}>
        <Time at={decision.at} />
        <span class="cut">
          <strong>{plain(decision.distinct_id ?? "no distinct id", 60)}</strong>
        </span>
        <Badge tone={decided?.failed ? "odd" : valueTone(decided?.value ?? null)}>
          {decided
            ? valueText(decided.value)
            : decision.status === 200
              ? "not in the response"
              : `status ${decision.status}`}
        </Badge>
        <span class="muted flags-decision-why">{whyWords(decision, decided)}</span>
        <Marks decision={decision} decided={decided} />
      </button>
      {isOpen && <Opened decision={decision} decided={decided} flag={flag} />}
    </li>
  );
}

function whyWords({ by, rejected }: Decision, decided: DecidedFlag | undefined): string {
  if (by === "local_evaluation") return "evaluated by the SDK";
  if (decided) return reasonWords(decided);
  return rejected === null ? "" : plain(rejected, 100);
}

function Marks({ decision, decided }: { decision: Decision; decided: DecidedFlag | undefined }) {
  const differing = decision.called.filter((it) => it.differs).length;
  return (
    <span class="row row-tight end">
      {decided && isOverridden(decided) && <Badge tone="note">overridden</Badge>}
      {decision.fault !== null && <Badge tone="bad">{plain(decision.fault, 40)}</Badge>}
      {differing > 0 && <Badge tone="odd">app used a different value</Badge>}
      {decision.called.length > 0 && differing === 0 && <Badge tone="good">used</Badge>}
    </span>
  );
}

interface DecisionProps {
  decision: Decision;
  decided: DecidedFlag | undefined;
  flag: Flag;
}

function Opened({ decision, decided, flag }: DecisionProps) {
  return (
    <div class="stack stack-wide flags-opened">
      <p class="row row-wide row-base">
        <a href={link("requests", [decision.request])}>Request {decision.request}</a>
        <span>{clientWords(decision.client)}</span>
        {decided?.payload != null && (
          <span>
            payload <code>{plain(decided.payload, 300)}</code>
          </span>
        )}
        {decided?.reason && <span class="muted">{plain(decided.reason.description)}</span>}
      </p>
      <Calls called={decision.called} decided={decided} />
      <WhyNow decision={decision} decided={decided} flag={flag} />
    </div>
  );
}

function Calls({ called, decided }: { called: readonly FlagCall[]; decided: DecidedFlag | undefined }) {
  if (called.length === 0) return <p class="muted">No $feature_flag_called event followed yet.</p>;
  return (
    <ul class="stack stack-tight">
      {called.map((it) => (
        <li key={it.seq} class="row row-wide">
          <Badge tone={it.differs ? "odd" : "good"}>{valueText(it.response)}</Badge>
          <a href={link("events", [it.seq])}>$feature_flag_called {it.seq}</a>
          <Time at={it.at} />
          {it.differs && (
            <span>The app used a different value than {decided ? valueText(decided.value) : "the response"}.</span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The journal keeps requests and responses; the explanation is evaluated again. */
function WhyNow({ decision, decided, flag }: DecisionProps) {
  const { explanation, problem } = useExplanation(flag.key, subjectOf(decision), worldRevision.value);
  if (problem) return <Trouble problem={problem} />;
  if (!explanation) return null;
  const since = decided && sinceWords(decided, explanation);
  return (
    <section aria-label="Evaluated again now">
      <p class="row row-wide row-base">
        <Badge tone={since === undefined ? "plain" : "odd"}>evaluated again now</Badge>
        <span class="muted">
          {since ??
            (decision.asked === null
              ? "Uses stored properties: SDKs do not report the properties they used."
              : "Uses the request's properties over currently stored ones.")}
        </span>
      </p>
      <Trace explanation={explanation} sentences={flag.words?.sets ?? []} />
    </section>
  );
}

interface Older extends Decisions {
  readonly problem?: SimProblem;
  load(): void;
}

/** Older decisions, loaded on demand. */
function useOlder(flag: Flag, newest: Decisions | undefined): Older {
  const [read, setRead] = useState<Decisions & { problem?: SimProblem }>();
  const { decisions = [], problem } = read ?? {};
  const before = read ? read.before : (newest?.before ?? null);
  const load = () => {
    const path = `flag-decisions${query({ project: flag.project, key: flag.key, before: before ?? undefined })}`;
    call<Decisions>("GET", path).then(
      (more) => setRead({ decisions: [...decisions, ...more.decisions], before: more.before }),
      (error: unknown) => setRead({ decisions, before, problem: problemOf(error) }),
    );
  };
  return { decisions, before, load, ...(problem && { problem }) };
}
