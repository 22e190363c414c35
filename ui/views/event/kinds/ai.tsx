import { useState } from "preact/hooks";
import { isObject, type Json, type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../../../src/state/journal/stored-event.ts";
import { Badge, Button } from "../../../parts/basics.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { counted, numberText, plain } from "../../../parts/text.ts";
import type { KindProps } from "../event-facts.ts";
import { Named } from "../event-parts.tsx";
import { costText, secondsText } from "./ai-texts.ts";
import { LongText } from "./long-text.tsx";
import { blockText, type Message, messageCount, messagesOf, type Part } from "./messages.ts";
import { costOf, isErrorIn, numberIn } from "./trace.ts";
import { Judgement, TraceOfEvent } from "./trace-fall.tsx";

/** The first tab of `$ai_…` events: what was asked and answered, and the trace. */
export function AiEvent({ event }: KindProps) {
  const { properties } = event;
  return (
    <div class="stack stack-loose">
      <Figures event={event} />
      <Failure properties={properties} />
      {isJudgement(event) ? (
        <p class="ai-text">
          <Judgement event={event} />
        </p>
      ) : (
        <>
          <Conversation event={event} />
          <State title="Input" value={own(properties, "$ai_input_state")} />
          <State title="Output" value={own(properties, "$ai_output_state")} />
        </>
      )}
      <TraceOfEvent event={event} />
    </div>
  );
}

const isJudgement = ({ event }: StoredEvent): boolean => event === "$ai_metric" || event === "$ai_feedback";

const textOf = (properties: JsonObject, ...keys: readonly string[]): string => {
  const found = keys.map((key) => own(properties, key)).find((it) => typeof it === "string" && it !== "");
  return typeof found === "string" ? found : "";
};

function temperatureOf(properties: JsonObject): number | undefined {
  const parameters = own(properties, "$ai_model_parameters");
  return (
    numberIn(properties, "$ai_temperature", "gen_ai.request.temperature") ??
    (isObject(parameters) ? numberIn(parameters, "temperature") : undefined)
  );
}

/** Counts of tokens that are a part of input or output. */
const tokenKinds: readonly (readonly [property: string, word: string])[] = [
  ["$ai_cache_read_input_tokens", "from cache"],
  ["$ai_cache_creation_input_tokens", "to cache"],
  ["$ai_reasoning_tokens", "reasoning"],
];

function Tokens({ properties }: { properties: JsonObject }) {
  const [input, output] = [numberIn(properties, "$ai_input_tokens"), numberIn(properties, "$ai_output_tokens")];
  if (input === undefined && output === undefined) return null;
  const others = tokenKinds.flatMap(([property, word]) => {
    const count = numberIn(properties, property);
    return count ? [`${numberText(count)} ${word}`] : [];
  });
  return (
    <span class="number">
      <b>{input === undefined ? "?" : numberText(input)}</b>
      {output !== undefined && (
        <>
          {" → "}
          <b>{numberText(output)}</b>
        </>
      )}{" "}
      <span class="muted">tokens{others.length > 0 && `, ${others.join(", ")}`}</span>
    </span>
  );
}

/** Model, tokens, time and cost on one line. */
function Figures({ event: { properties } }: { event: StoredEvent }) {
  const [model, provider] = [textOf(properties, "$ai_model"), textOf(properties, "$ai_provider")];
  const name = textOf(properties, "$ai_span_name", "$ai_trace_name");
  const [latency, first] = [numberIn(properties, "$ai_latency"), numberIn(properties, "$ai_time_to_first_token")];
  const [cost, temperature, status] = [
    costOf(properties),
    temperatureOf(properties),
    numberIn(properties, "$ai_http_status"),
  ];
  const stop = textOf(properties, "$ai_stop_reason");
  return (
    <p class="row row-wide small ai-figures">
      {name !== "" && (
        <b>
          <Named text={name} otherwise="" />
        </b>
      )}
      {model + provider !== "" && (
        <span>
          <b>
            <Named text={model} otherwise="" />
          </b>{" "}
          <span class="muted">
            <Named text={provider} otherwise="" />
          </span>
        </span>
      )}
      <Tokens properties={properties} />
      {latency !== undefined && (
        <span class="number">
          <b>{secondsText(latency)}</b>
          {first !== undefined && <span class="muted">{`, first token after ${secondsText(first)}`}</span>}
        </span>
      )}
      {cost !== undefined && <b class="number">{costText(cost)}</b>}
      {temperature !== undefined && <Badge>{`temperature ${temperature}`}</Badge>}
      {status !== undefined && <Badge tone={status >= 400 ? "bad" : "plain"}>{`HTTP ${status}`}</Badge>}
      {stop !== "" && <Badge>{`stopped: ${plain(stop, 40)}`}</Badge>}
    </p>
  );
}

function Failure({ properties }: { properties: JsonObject }) {
  const error = own(properties, "$ai_error");
  if (!isErrorIn(properties) && (error === undefined || error === null || error === "")) return null;
  return (
    <div class="stack stack-tight callout callout-dropped">
      <p>
        <strong>The call failed.</strong>
      </p>
      {error !== undefined && error !== null && error !== "" ? (
        <Block text={blockText(error)} />
      ) : (
        <p class="muted">
          The event has no <code>$ai_error</code>.
        </p>
      )}
    </div>
  );
}

/** Messages that are shown at first, and with each further step. */
const [firstShown, step] = [20, 100];

function Conversation({ event: { event, properties } }: { event: StoredEvent }) {
  const [shown, setShown] = useState(firstShown);
  const [asked, choices] = [
    own(properties, "$ai_input"),
    own(properties, "$ai_output_choices") ?? own(properties, "$ai_output"),
  ];
  const input = messagesOf(asked, "user");
  const output = messagesOf(choices, "assistant").slice(0, 50);
  if (input.length + output.length === 0)
    return event === "$ai_generation" ? (
      <p class="muted">The event has no messages: the SDK was in privacy mode, or sends none.</p>
    ) : null;
  const hidden = Math.max(0, input.length - shown);
  const unread = messageCount(asked) - input.length;
  return (
    <>
      {hidden > 0 && (
        <p>
          <Button onClick={() => setShown(shown + step)}>
            {`Show ${numberText(Math.min(step, hidden))} earlier of ${counted(hidden, "message")}`}
          </Button>
        </p>
      )}
      {hidden === 0 && unread > 0 && (
        <p class="muted">{`${counted(unread, "earlier message")} without content, or too many to show; see Properties.`}</p>
      )}
      <ol class="chat" aria-label="Messages">
        {input.slice(hidden).map((it, i) => (
          <Said key={hidden + i} message={it} />
        ))}
        {output.map((it, i) => (
          <Said key={`answer ${i}`} message={it} isAnswer={event === "$ai_generation"} />
        ))}
      </ol>
    </>
  );
}

function Said({ message: { role, parts }, isAnswer = false }: { message: Message; isAnswer?: boolean }) {
  return (
    <li class={isAnswer ? "chat-answer" : undefined}>
      <b class="chat-who">{isAnswer && role === "assistant" ? "answer" : plain(role, 40)}</b>
      <div class={role === "system" || role === "developer" ? "stack muted" : "stack"}>
        {parts.map((it, i) => (
          <SaidPart key={i} part={it} />
        ))}
      </div>
    </li>
  );
}

/** A block of JSON or text that can be scrolled by keyboard. */
const Block = ({ text }: { text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling by keyboard needs the focus
  <pre class="ai-block" tabIndex={0}>
    <LongText text={text} />
  </pre>
);

function SaidPart({ part }: { part: Part }) {
  switch (part.is) {
    case "text":
      return (
        <p class="ai-text">
          <LongText text={part.text} />
        </p>
      );
    case "thinking":
      return (
        <details>
          <summary class="muted">thinking</summary>
          <p class="ai-text muted">
            <LongText text={part.text} />
          </p>
        </details>
      );
    case "refusal":
      return (
        <p class="ai-text">
          <Badge tone="odd">refused</Badge> <LongText text={part.text} />
        </p>
      );
    case "call":
      return (
        <>
          <p class="row row-tight">
            <Icon of="tool" /> called{" "}
            <code>
              <Named text={part.name} otherwise="(no name)" />
            </code>
          </p>
          {part.input !== undefined && <Block text={blockText(part.input)} />}
        </>
      );
    case "result":
      return (
        <>
          {part.name !== "" && (
            <p class="muted small">
              result of{" "}
              <code>
                <Named text={part.name} otherwise="" />
              </code>
            </p>
          )}
          <Block text={part.output === undefined ? "(nothing)" : blockText(part.output)} />
        </>
      );
    case "file":
      return (
        <p class="ai-file row row-tight">
          <Icon of="page" /> {part.what}
          <span class="muted">
            <Named text={part.about} otherwise="(nothing known)" />
          </span>
        </p>
      );
    case "other":
      return <Block text={blockText(part.value)} />;
  }
}

/** Messages have a role or a list of parts; everything else is data. */
const isMessages = (value: Json): boolean => {
  const [one] = Array.isArray(value)
    ? value
    : [isObject(value) && Array.isArray(value.messages) ? value.messages[0] : value];
  return one !== undefined && isObject(one) && (typeof one.role === "string" || Array.isArray(one.parts));
};

/** The input or output of a span: messages if it has the shape of messages, else as data. */
function State({ title, value }: { title: string; value: Json | undefined }) {
  if (value === undefined || value === null) return null;
  return (
    <section class="stack stack-tight">
      <h3>{title}</h3>
      {isMessages(value) ? (
        <ol class="chat" aria-label={title}>
          {messagesOf(value, title === "Input" ? "user" : "assistant")
            .slice(-firstShown)
            .map((it, i) => (
              <Said key={i} message={it} />
            ))}
        </ol>
      ) : (
        <Block text={blockText(value)} />
      )}
    </section>
  );
}
