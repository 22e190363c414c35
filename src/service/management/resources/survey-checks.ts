import { isObject, type Json, type JsonObject, objectsIn, textIn } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import { documentNamed } from "../../api-frame/access.ts";
import { invalid } from "../../api-frame/fields.ts";
import { flagWithId } from "../../flags/management/linked-flags.ts";
import type { Writing } from "./kind.ts";
import { siblingsOf } from "./resource-fields.ts";

/** What the service refuses in a survey. Upstream PostHog/posthog products/surveys/backend/api/survey.py. */

export const surveyTypes = ["popover", "widget", "external_survey", "api"] as const;

const questionsRefused = (detail: string) => invalid(detail, "questions");

const linkSchemes = ["https", "mailto"];
const mail = /^mailto:[\w.%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$/;

/** @throws SimError invalid_input */
function checkLink(link: string): void {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(link)?.[1]?.toLowerCase() ?? "";
  if (!linkSchemes.includes(scheme)) {
    throw questionsRefused(`Link must be a URL with one of these schemes: [${linkSchemes.join(", ")}]`);
  }
  if (scheme === "mailto" && !mail.test(link)) {
    throw questionsRefused("Invalid mailto link. Please enter a valid mailto link (e.g., mailto:example@domain.com).");
  }
  if (scheme === "https" && !/^https:\/\/[^/]+/i.test(link)) {
    throw questionsRefused("Invalid HTTPS URL. Please enter a valid HTTPS link.");
  }
}

const lengthRules = ["min_length", "max_length"];
const ruleTypes = [...lengthRules, "email"];

/** @throws SimError invalid_input */
function checkRules(rules: Json): void {
  if (!Array.isArray(rules)) throw questionsRefused("Question validation must be a list of validation rules");
  for (const rule of rules) {
    if (!isObject(rule)) throw questionsRefused("Each validation rule must be an object");
    const type = stringOf(rule.type);
    const { value = null } = rule;
    if (!ruleTypes.includes(type)) {
      throw questionsRefused(`Validation rule type must be one of: ${ruleTypes.join(", ")}`);
    }
    if (lengthRules.includes(type) && value !== null && !(Number.isInteger(value) && Number(value) > 0)) {
      throw questionsRefused(`Validation rule value for ${type} must be a positive integer`);
    }
  }
  const [least, most] = lengthRules.map((type) => objectsIn(rules).find((it) => it.type === type)?.value);
  if (typeof least === "number" && typeof most === "number" && least > most) {
    throw questionsRefused("Minimum length cannot be greater than maximum length");
  }
}

const texts = ["buttonText", "lowerBoundLabel", "upperBoundLabel"];

/** @throws SimError invalid_input */
function checkQuestion(question: Json, i: number): void {
  if (!isObject(question)) throw questionsRefused("Questions must be a list of objects");
  const { question: asked, description, choices, descriptionContentType: type, link, validation } = question;
  if (!asked) throw questionsRefused("Question text is required");
  if (typeof asked !== "string") throw questionsRefused("Question text must be a string");
  if (description && typeof description !== "string") {
    throw questionsRefused("Question description must be a string");
  }
  const wrong = texts.find((name) => question[name] && typeof question[name] !== "string");
  if (wrong) throw questionsRefused(`Question ${wrong} must be a string`);
  if (choices && !Array.isArray(choices)) {
    throw questionsRefused("Question choices must be a list of strings");
  }
  for (const choice of Array.isArray(choices) ? choices : []) {
    if (typeof choice !== "string") throw questionsRefused("Question choices must be strings");
    if (choice.trim() === "") throw questionsRefused("Question choices cannot be empty");
  }
  if (type && type !== "text" && type !== "html") {
    throw questionsRefused("Question descriptionContentType must be one of ['text', 'html']");
  }
  if (link && typeof link !== "string") throw questionsRefused(`Question ${i + 1}: link must be a string`);
  if (typeof link === "string" && link !== "") checkLink(link);
  if (validation !== undefined && validation !== null) checkRules(validation);
}

/** @throws SimError invalid_input */
function checkAppearance(value: Json): void {
  if (!isObject(value)) throw invalid("Appearance must be an object", "appearance");
  const { thankYouMessageDescriptionContentType: type, surveyPopupDelaySeconds: delay, whiteLabel } = value;
  if (type && type !== "text" && type !== "html") {
    const detail = "thankYouMessageDescriptionContentType must be one of ['text', 'html']";
    throw invalid(detail, "appearance");
  }
  if (typeof delay === "number" && delay < 0) {
    throw invalid("Survey popup delay seconds must be a positive integer", "appearance");
  }
  if (whiteLabel !== undefined && whiteLabel !== null && typeof whiteLabel !== "boolean") {
    throw invalid("whiteLabel must be a boolean", "appearance");
  }
}

/** Checks of single fields. @throws SimError invalid_input */
export function checkSurveyFields({ questions, conditions, appearance, schedule }: JsonObject): void {
  if (questions !== undefined && questions !== null) {
    if (!Array.isArray(questions)) throw questionsRefused("Questions must be a list of objects");
    for (const [i, it] of questions.entries()) checkQuestion(it, i);
  }
  if (appearance !== undefined && appearance !== null) checkAppearance(appearance);
  if (conditions !== undefined && conditions !== null && !isObject(conditions)) {
    throw invalid("Conditions must be an object", "conditions");
  }
  if (schedule && !["once", "recurring", "always"].includes(stringOf(schedule))) {
    throw invalid("Schedule must be one of: once, recurring, always", "schedule");
  }
}

const anyVariant = "any";

/** @throws SimError invalid_input */
function checkVariant(conditions: JsonObject, flag: FeatureFlag | undefined): void {
  const { linkedFlagVariant: variant } = conditions;
  if (!variant || variant === anyVariant) return;
  if (!flag) throw invalid("linkedFlagVariant can only be used when a linked_flag_id is specified");
  const known = (flag.filters.multivariate?.variants ?? []).map(({ key }) => key);
  if (known.includes(stringOf(variant))) return;
  throw invalid(
    known.length > 0
      ? `Feature flag variant '${variant}' does not exist. Available variants: ${known.join(", ")}`
      : `Feature flag variant '${variant}' specified but the linked feature flag has no variants`,
  );
}

const day = 86_400_000;

/** @throws SimError invalid_input */
function checkSampling({ body, desk }: Writing): void {
  const { response_sampling_start_date: start = null, response_sampling_interval: interval = null } = body;
  const { response_sampling_limit: limit = 0 } = body;
  const today = desk.clock.now() - (desk.clock.now() % day);
  if (typeof start === "string" && Date.parse(start) < today) {
    const detail = "Response sampling start date must be today or a future date in UTC.";
    throw invalid(detail, "response_sampling_start_date");
  }
  if (typeof interval === "number" && interval <= 0) {
    throw invalid("Response sampling interval must be greater than 0.", "response_sampling_interval");
  }
  if (Number(limit) > 0 && Number(interval) > 0 && start === null) {
    const detail = "Response sampling start date should be set if response_sampling_start_date is not zero.";
    throw invalid(detail, "response_sampling_start_date");
  }
}

const notExternal = ["linked_flag_id", "targeting_flag_filters"];
const notExternalConditions = [
  "url",
  "urlMatchType",
  "selector",
  "seenSurveyWaitPeriodInDays",
  "linkedFlagVariant",
  "deviceTypes",
  "deviceTypesMatchType",
];

/** Surveys on a page of their own cannot ask what a visitor's browser shows. @throws SimError invalid_input */
function checkExternal(body: JsonObject): void {
  const field = notExternal.find((name) => body[name] !== undefined && body[name] !== null);
  if (field) throw invalid(`${field} is not allowed for external surveys`, field);
  const conditions = isObject(body.conditions) ? body.conditions : {};
  const isUsed = (name: string) => {
    const part = conditions[name];
    return isObject(part) && Array.isArray(part.values) && part.values.length > 0;
  };
  const wrong = [
    ...notExternalConditions.filter((name) => conditions[name] !== undefined && conditions[name] !== null),
    ...["actions", "events"].filter(isUsed),
  ];
  if (wrong.length > 0) {
    const names = wrong.join(", ");
    const detail = `The following condition fields are not allowed for external surveys: ${names}`;
    throw invalid(detail, "conditions");
  }
  const delay = isObject(body.appearance) ? body.appearance.surveyPopupDelaySeconds : null;
  if (delay !== undefined && delay !== null) {
    throw invalid("surveyPopupDelaySeconds is not allowed for external surveys", "appearance");
  }
}

const isOpen = (group: JsonObject): boolean =>
  [100, null, undefined].includes(group.rollout_percentage as number | null | undefined) &&
  objectsIn(group.properties).length === 0;

/** Checks of the survey as a whole. @throws SimError invalid_input, unique */
export function checkSurvey(fields: JsonObject, writing: Writing): void {
  const { body, before, desk, request } = writing;
  const project = request.project?.id ?? 0;
  const { linked_flag_id: linked, targeting_flag_id: targeting, linked_insight_id: insight } = body;
  const flag = flagWithId(desk, project, linked);
  if (linked && !flag) throw invalid("Feature Flag with this ID does not exist");
  if (targeting && !flagWithId(desk, project, targeting)) {
    throw invalid("Targeting Feature Flag with this ID does not exist");
  }
  if (insight && !documentNamed(desk, "insights", project, stringOf(insight))) {
    throw invalid("Insight with this ID does not exist");
  }
  checkVariant(isObject(body.conditions) ? body.conditions : {}, flag);
  if (siblingsOf(writing, "surveys").some((it) => it.fields.name === fields.name)) {
    const another = before ? "another survey" : "a survey";
    throw invalid(`There is already ${another} with this name.`, "", "unique");
  }
  const { targeting_flag_filters: filters } = body;
  if (isObject(filters) && objectsIn(filters.groups).some(isOpen)) {
    throw invalid(
      "Invalid operation: User targeting rolls out to everyone. If you want to roll out to everyone, delete this targeting",
    );
  }
  checkSampling(writing);
  const appearance = { ...(isObject(fields.appearance) && fields.appearance) };
  const branches = objectsIn(fields.questions).some((it) => it.branching !== undefined && it.branching !== null);
  if (appearance.shuffleQuestions === true && branches) {
    throw invalid(
      "Question shuffling and question branching cannot be used together. Please disable one of these features.",
    );
  }
  if (textIn(body, "type") === "external_survey") checkExternal(body);
  const reached = Number(before?.fields.current_iteration ?? 0);
  const { iteration_count: count } = body;
  if (typeof count === "number" && count > 0 && reached > count) {
    throw invalid(`Cannot change survey recurrence to ${count}, should be at least ${reached}`);
  }
}
