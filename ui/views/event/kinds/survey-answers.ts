import { isObject, type Json, type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import { numberOf } from "../../../../src/state/journal/event-texts.ts";
import { textIn } from "./read-values.ts";

export interface Scale {
  readonly from: number;
  readonly to: number;
  readonly chosen: number;
  /** False: the event does not tell the scale. */
  readonly isSent: boolean;
}

export interface SurveyAnswer {
  /** undefined: the event has an answer only. */
  readonly question: string | undefined;
  readonly isOptional: boolean;
  /** null: not answered. */
  readonly answer: Json;
  readonly scale: Scale | undefined;
}

const mostQuestions = 100;

const responseName = "$survey_response";

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** The longest scale of the service is 0 to 10, the others begin with 1. */
const longestScale = 10;

/** The scale of a rating; undefined for answers that are none. */
function scaleOf(question: JsonObject, answer: Json): Scale | undefined {
  const chosen = numberOf(answer);
  const isRating = textIn(question, "type") === "rating";
  if (chosen === undefined || !Number.isInteger(chosen) || (typeof answer === "string" && !isRating)) return undefined;
  const sent = numberOf(own(question, "scale"));
  const isSent = sent !== undefined && Number.isInteger(sent) && sent > 1 && sent <= longestScale;
  const to = isSent ? sent : longestScale;
  const from = to === longestScale ? 0 : 1;
  return chosen < from || chosen > to ? undefined : { from, to, chosen, isSent };
}

/** Names of the properties that may have the answer of a question: by its id, by its place, or the first. */
function namesFor(question: JsonObject, i: number): string[] {
  const id = own(question, "id");
  const byId = typeof id === "string" || typeof id === "number" ? [`${responseName}_${id}`] : [];
  return [...byId, i === 0 ? responseName : `${responseName}_${i}`];
}

/** The questions of a survey with their answers, then answers without a question. */
export function surveyAnswers(properties: JsonObject): { answers: SurveyAnswer[]; left: number } {
  const list = own(properties, "$survey_questions");
  const questions = (Array.isArray(list) ? list : []).map((it) => (isObject(it) ? it : {}));
  const used = new Set<string>();
  const asked = questions.slice(0, mostQuestions).map((question, i): SurveyAnswer => {
    const names = namesFor(question, i);
    const name = names.find((it) => !used.has(it) && !isEmpty(own(properties, it)));
    for (const it of names.slice(0, 1)) used.add(it);
    if (name !== undefined) used.add(name);
    const found = (name === undefined ? undefined : own(properties, name)) ?? own(question, "response");
    const answer = found === undefined || isEmpty(found) ? null : found;
    return {
      question: textIn(question, "question") ?? textIn(question, "text"),
      isOptional: own(question, "optional") === true,
      answer,
      scale: scaleOf(question, answer),
    };
  });
  const others = Object.entries(properties).filter(
    ([name]) => (name === responseName || name.startsWith(`${responseName}_`)) && !used.has(name),
  );
  const alone = others
    .filter(([, value]) => !isEmpty(value))
    .map(([, value]): SurveyAnswer => {
      const [question, isOptional] = [undefined, false];
      return { question, isOptional, answer: value, scale: scaleOf({}, value) };
    });
  const answers = [...asked, ...alone].slice(0, mostQuestions);
  return { answers, left: questions.length + alone.length - answers.length };
}

const said: Readonly<Record<string, string>> = {
  "survey shown": "shown",
  "survey sent": "answered",
  "survey dismissed": "closed without an answer",
  "survey abandoned": "left before its end",
};

/** What happened to the survey. */
export function surveyWords(name: string, properties: JsonObject): string {
  const word = (Object.hasOwn(said, name) ? said[name] : undefined) ?? name;
  const isPart =
    own(properties, "$survey_partially_completed") === true ||
    (name === "survey sent" && own(properties, "$survey_completed") === false);
  return isPart ? `${word}, in part` : word;
}
