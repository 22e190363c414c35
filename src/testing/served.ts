import { assertionsOf } from "../client/assertions.ts";
import type { FlagServing, FlagServings } from "../client/flags.ts";
import { isObject } from "../kernel/json.ts";
import { describePattern } from "../match/describe.ts";
import { nameText, quoted } from "../match/printable.ts";
import { type Asked, type Judged, told } from "./asked.ts";
import type { ServedFlagOptions } from "./types.ts";

/** How many servings a failure shows. */
const shown = 5;

const ways: Readonly<Record<FlagServing["by"], string>> = {
  answer: "answered",
  local_evaluation: "evaluated by the SDK itself",
};

function servingLine({ by, request, distinct_id, value, status, fault }: FlagServing): string {
  const whom = distinct_id === null ? "nobody" : quoted(distinct_id);
  const what = value === null ? "without the flag" : describePattern(value);
  const http = status === 200 ? "" : `, HTTP ${status}`;
  return `  request #${request} to ${whom}: ${what} (${ways[by]}${http}${fault === null ? "" : `, fault ${nameText(fault)}`})`;
}

const servingLines = ({ served }: FlagServings): string[] =>
  served.length === 0
    ? ["no flags were asked for: was the client made with this host and key, and a flag looked up?"]
    : ["what was served, newest first:", ...served.slice(0, shown).map(servingLine)];

/** What the sim says of a key that it does not know. */
function noFlag(key: string, error: unknown): string[] {
  const body = error instanceof Error && "body" in error ? error.body : undefined;
  const hint = isObject(body) && typeof body.hint === "string" ? `: ${body.hint}` : "";
  return [`there is no flag ${quoted(key)} here${hint}`];
}

/** Why the flag is what it is, as far as the sim can tell. */
async function reasons({ tenant }: Asked, key: string, distinctId: string | undefined): Promise<string[]> {
  const flag = await tenant.flags.get(key).catch((error: unknown) => noFlag(key, error));
  if (!("overrides" in flag)) return flag;
  const overrides = flag.overrides.map(
    ({ value, distinct_id }) =>
      `overridden: ${describePattern(value)} for ${distinct_id === null ? "everybody" : quoted(distinct_id)}`,
  );
  const why = distinctId === undefined ? undefined : await tenant.flags.explain(key, { distinctId });
  if (!why) return overrides;
  const explained = `now it would be ${describePattern(why.value)} for ${quoted(distinctId ?? "")}: ${why.reason.description}`;
  return [...overrides, explained, ...(why.hint === null ? [] : [why.hint])];
}

async function faultLines({ tenant }: Asked): Promise<string[]> {
  const active = (await tenant.faults.list()).filter((it) => it.state === "active");
  return active.length === 0 ? [] : [`faults in force: ${active.map((it) => nameText(it.name)).join(", ")}`];
}

/** Served: in an answer that was sent, or in an evaluation that an SDK told of. With `.not` once it is quiet. */
export async function servedFlag(
  asked: Asked,
  key: string,
  value?: boolean | string,
  { distinctId, timeoutMs }: ServedFlagOptions = {},
): Promise<Judged> {
  if (typeof key !== "string" || key === "")
    throw new TypeError(`${asked.title}: a flag's key is a text that is not empty`);
  if (value !== undefined && typeof value !== "boolean" && typeof value !== "string")
    throw new TypeError(`${asked.title}: a flag's value is true, false or a variant's name`);
  const { tenant, isNot } = asked;
  if (isNot) await tenant.settle(timeoutMs === undefined ? {} : { timeoutMs });
  const servings = await tenant.flags.served(key, {
    waitMs: isNot ? 0 : assertionsOf(tenant).within(timeoutMs),
    ...(distinctId !== undefined && { distinctId }),
    ...(value !== undefined && { value }),
  });
  const lines = servingLines(servings);
  if (servings.fits) return { pass: true, text: told(asked, ...lines) };
  const more = [...(await reasons(asked, key, distinctId)), ...(await faultLines(asked))];
  return { pass: false, text: told(asked, ...lines, ...more) };
}
