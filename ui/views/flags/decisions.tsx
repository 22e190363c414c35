import { go, link, route, withParams } from "../../app/location.ts";
import { worldRevision } from "../../app/sim.ts";
import { Badge, Button, Section, Time, Trouble } from "../../parts/basics.tsx";
import { plain } from "../../parts/text.ts";
import type { DecidedFlag, Decision, Decisions, Flag, FlagCall } from "./answers.ts";
import { useExplanation } from "./explanation.ts";
import { useOlder } from "./older.ts";
import { Trace } from "./trace.tsx";
import { clientWords, isOverridden, reasonWords, sinceWords, subjectOf } from "./trace-words.ts";
import { valueText, valueTone } from "./value.ts";
import { withOlder } from "./with-older.ts";

const idOf = ({ request, seq }: Decision): string => (seq === null ? String(request) : `${request}-${seq}`);

const flagIn = ({ flags }: Decision, key: string): DecidedFlag | undefined =>
  flags.find((it) => it.key === key);

/** What clients were given, as it happens; one that is opened tells why. */
export function DecisionsTab({ flag, told }: { flag: Flag; told: Decisions | undefined }) {
  const open = route.value.params.decision;
  const older = useOlder(flag, told);
  if (!told) return null;
  const decisions = withOlder(told.decisions, older.decisions);
  if (decisions.length === 0 && older.before === null) {
    return (
      <Section title="Nobody has asked yet">
        <p class="muted">
          Each answer that has this flag appears here as it is given, with its reason, and what the app did
          with it.
        </p>
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
        <p class="flags-older">
          <Button onClick={older.load}>Look further back</Button>
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
      <button type="button" class="flags-decision-head" aria-expanded={isOpen} onClick={toggle}>
        <Time at={Date.parse(decision.at)} />
        <span class="cut">
          <strong>{plain(decision.distinct_id ?? "nobody", 60)}</strong>
        </span>
        <Badge tone={decided?.failed ? "odd" : valueTone(decided?.value ?? null)}>
          {decided
            ? valueText(decided.value)
            : decision.status === 200
              ? "not in the answer"
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
    <span class="flags-marks">
      {decided && isOverridden(decided) && <Badge tone="note">overridden</Badge>}
      {decision.fault !== null && <Badge tone="bad">{plain(decision.fault, 40)}</Badge>}
      {differing > 0 && <Badge tone="odd">app used another value</Badge>}
      {decision.called.length > 0 && differing === 0 && <Badge tone="good">used</Badge>}
    </span>
  );
}

function Opened({
  decision,
  decided,
  flag,
}: {
  decision: Decision;
  decided: DecidedFlag | undefined;
  flag: Flag;
}) {
  return (
    <div class="flags-opened">
      <p class="flags-note">
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
    <ul class="flags-calls">
      {called.map((it) => (
        <li key={it.seq}>
          <Badge tone={it.differs ? "odd" : "good"}>{valueText(it.response)}</Badge>
          <a href={link("events", [it.seq])}>$feature_flag_called {it.seq}</a>
          <Time at={Date.parse(it.at)} />
          {it.differs && (
            <span>The app used another value than {decided ? valueText(decided.value) : "the answer"}.</span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The journal keeps what was asked and what was answered; how it came about is worked out again. */
function WhyNow({
  decision,
  decided,
  flag,
}: {
  decision: Decision;
  decided: DecidedFlag | undefined;
  flag: Flag;
}) {
  const { told, problem } = useExplanation(flag.key, subjectOf(decision), worldRevision.value);
  if (problem) return <Trouble problem={problem} />;
  if (!told) return null;
  const since = decided && sinceWords(decided, told);
  return (
    <section aria-label="Evaluated again now">
      <p class="flags-note">
        <Badge tone={since === undefined ? "plain" : "odd"}>evaluated again now</Badge>
        <span class="muted">
          {since ??
            (decision.asked === null
              ? "With what is stored of the person: an SDK does not tell what it knew."
              : "With the properties that the request gave, over what is stored now.")}
        </span>
      </p>
      <Trace told={told} sentences={flag.words?.sets ?? []} />
    </section>
  );
}
