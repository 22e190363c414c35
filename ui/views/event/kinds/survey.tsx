import type { Json } from "../../../../src/kernel/base/json.ts";
import { termText } from "../../../../src/state/journal/filter/print.ts";
import { link } from "../../../app/location.ts";
import { jsonText } from "../../../copy/quote.ts";
import { plain } from "../../../parts/text.ts";
import type { KindProps } from "../event-facts.ts";
import { Named } from "../event-parts.tsx";
import { textIn } from "./read-values.ts";
import { type Scale, type SurveyAnswer, surveyAnswers, surveyWords } from "./survey-answers.ts";
import { NotShown } from "./value-list.tsx";

/** The first tab of surveys: questions and answers. */
export function SurveyView({ event }: KindProps) {
  const { properties } = event;
  const { answers, left } = surveyAnswers(properties);
  const id = textIn(properties, "$survey_id");
  const name = <Named text={textIn(properties, "$survey_name") ?? id ?? ""} otherwise="without a name" />;
  return (
    <div class="stack stack-loose">
      <p class="first-sentence">
        {"Survey "}
        {id === undefined ? (
          <b>{name}</b>
        ) : (
          <a
            href={link("events", [], { f: termText(["prop", "$survey_id"], id.slice(0, 200)) })}
            title="Events of this survey"
          >
            <b>{name}</b>
          </a>
        )}
        <span class="muted">{`: ${plain(surveyWords(event.event, properties), 80)}`}</span>
      </p>
      {answers.length === 0 && event.event !== "survey shown" && (
        <p class="muted">The event has neither questions nor answers.</p>
      )}
      {answers.map((it, i) => (
        <Answer key={i} of={it} number={i + 1} />
      ))}
      <NotShown left={left} noun="answer" />
    </div>
  );
}

function Answer({ of: { question, isOptional, answer, scale }, number }: { of: SurveyAnswer; number: number }) {
  return (
    <section class="stack stack-tight">
      <h3>
        {question === undefined ? (
          <span class="muted">{`Answer ${number}, its question was not sent`}</span>
        ) : (
          <Named text={question} otherwise="" />
        )}
        {isOptional && <span class="faint"> optional</span>}
      </h3>
      {answer === null ? (
        <p class="muted">not answered</p>
      ) : scale ? (
        <Rating scale={scale} />
      ) : (
        <Given answer={answer} />
      )}
    </section>
  );
}

function Rating({ scale: { from, to, chosen, isSent } }: { scale: Scale }) {
  return (
    <>
      <div class="first-scale" role="img" aria-label={`${chosen} of ${from} to ${to}`}>
        {Array.from({ length: to - from + 1 }, (_, i) => (
          <span key={i} class={from + i === chosen ? "is-chosen" : undefined}>
            {from + i}
          </span>
        ))}
      </div>
      {!isSent && <p class="faint small">{`The SDK does not send the scale: drawn from ${from} to ${to}.`}</p>}
    </>
  );
}

const mostChoices = 50;

const wordsOf = (answer: Json): string => (typeof answer === "string" ? answer : jsonText(answer));

function Given({ answer }: { answer: Json }) {
  if (!Array.isArray(answer))
    return (
      <p class="first-answer">
        <Named text={wordsOf(answer)} otherwise="" />
      </p>
    );
  return (
    <>
      <ul class="stack stack-tight">
        {answer.slice(0, mostChoices).map((it, i) => (
          <li key={i} class="first-answer">
            <Named text={wordsOf(it)} otherwise="(empty)" />
          </li>
        ))}
      </ul>
      <NotShown left={answer.length - mostChoices} noun="choice" />
    </>
  );
}
