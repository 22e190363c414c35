import { own } from "../../../../src/kernel/base/json.ts";
import { addressStep } from "../../../../src/kernel/base/text.ts";
import type { DecidedFlag, FlagDecision, FlagDecisions } from "../../../../src/service/flags/decision-shapes.ts";
import type { FlagSummary } from "../../../../src/service/flags/shapes.ts";
import type { StoredEvent } from "../../../../src/state/journal/stored-event.ts";
import { query } from "../../../api/call.ts";
import { useExplanation } from "../../../api/explanation.ts";
import { useResource } from "../../../api/resource.ts";
import { link } from "../../../app/location.ts";
import { Badge } from "../../../parts/basics.tsx";
import { Trace } from "../../../parts/flag-trace/trace.tsx";
import { reasonWords, sinceWords, subjectOf, valueText, valueTone } from "../../../parts/flag-trace/trace-words.ts";
import { plain, spanText } from "../../../parts/text.ts";
import type { KindProps, ShownRequest } from "../event-facts.ts";
import { Named } from "../event-parts.tsx";
import { type CalledFlag, calledFlag, decisionFor } from "./called-flag.ts";
import { isAskable, textIn } from "./read-values.ts";

/** The first tab of `$feature_flag_called`: which decision the app used. */
export function FlagCalled({ event }: KindProps) {
  const called = calledFlag(event.properties);
  if (called === undefined)
    return <p class="muted">The event has no $feature_flag: which flag was used is not known.</p>;
  return <Called event={event} called={called} />;
}

function Called({ event, called }: { event: StoredEvent; called: CalledFlag }) {
  const isAsked = event.project !== null && event.outcome === "kept" && isAskable(called.key, event.distinct_id);
  const path = `flag-decisions${query({
    project: event.project ?? undefined,
    key: called.key,
    distinct_id: event.distinct_id,
    before: event.request + 1,
    limit: 50,
  })}`;
  const { data } = useResource<FlagDecisions>(isAsked ? path : null);
  const decision = data && decisionFor(event, data.decisions);
  const decided = decision?.flags.find(({ key }) => key === called.key);
  return (
    <div class="stack stack-wide">
      <p class="row row-base">
        <a href={link("flags", [called.key])}>
          <b>
            <Named text={called.key} otherwise="" />
          </b>
        </a>
        {"="}
        <Badge tone={valueTone(called.value)}>{valueText(called.value)}</Badge>
        <span class="muted">{whyText(event, decided)}</span>
      </p>
      {decision && <Why called={called} decision={decision} decided={decided} />}
      {data && <Agreement event={event} called={called} decision={decision} decided={decided} />}
    </div>
  );
}

function whyText(event: StoredEvent, decided: DecidedFlag | undefined): string {
  const reported = textIn(event.properties, "$feature_flag_reason");
  if (decided?.reason) return reasonWords(decided);
  return reported === undefined ? "" : plain(reported, 200);
}

interface AgreementProps {
  event: StoredEvent;
  called: CalledFlag;
  decision: FlagDecision | undefined;
  decided: DecidedFlag | undefined;
}

function agreementText({ called, decision, decided }: AgreementProps): string {
  if (!decision) return "No response with this flag for this distinct id is known.";
  if (!decided) return "The response did not have the flag.";
  if (decided.value === called.value) return "The event agrees with the response.";
  return `The event does not agree: the response had ${valueText(decided.value)}.`;
}

function Agreement(props: AgreementProps) {
  const { event, decision, called } = props;
  const isLocal = decision?.by === "local_evaluation" || called.isLocal;
  return (
    <p class="small muted">
      {decision && !isLocal && <Asked event={event} decision={decision} />}
      {isLocal ? "Evaluated by the SDK itself, without a request." : agreementText(props)}
      {own(event.properties, "$feature_flag_error") !== undefined && (
        <>
          {" Error: "}
          <code>{plain(String(own(event.properties, "$feature_flag_error")), 200)}</code>
        </>
      )}
    </p>
  );
}

function Asked({ event, decision }: { event: StoredEvent; decision: FlagDecision }) {
  const { data: request } = useResource<ShownRequest>(`requests/${decision.request}`);
  const earlier = Date.parse(event.timestamp) - Date.parse(decision.at);
  return (
    <>
      {"Asked in "}
      <a href={link("requests", [decision.request])}>request #{decision.request}</a>
      {request && `, ${plain(`${request.method} ${request.target}`, 120)}, ${spanText(request.ms)}`}
      {earlier >= 0 && `, ${spanText(earlier)} earlier`}
      {". "}
    </>
  );
}

interface WhyProps {
  called: CalledFlag;
  decision: FlagDecision;
  decided: DecidedFlag | undefined;
}

/** The journal keeps requests and responses; the steps are evaluated again. */
function Why({ called, decision, decided }: WhyProps) {
  const path = `flags/${addressStep(called.key)}${query({ project: decision.project ?? undefined })}`;
  const { data: flag } = useResource<FlagSummary>(path);
  const { explanation } = useExplanation(called.key, subjectOf(decision), decision.request);
  if (!explanation) return null;
  const since = decided && sinceWords(decided, explanation);
  return (
    <section class="stack" aria-label="Evaluated again now">
      <Trace explanation={explanation} sentences={flag?.words?.sets ?? []} hasHead={since !== undefined} />
      <p class="small muted">
        {since ?? "Evaluated again now, with the properties of the request over those stored since."}
      </p>
    </section>
  );
}
