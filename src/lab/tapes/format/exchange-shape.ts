import { z } from "zod";
import { isTooDeep, type Json } from "../../../kernel/base/json.ts";
import { safeParse } from "../../../kernel/base/safe-parse.ts";

const size = z.int().nonnegative();
const ms = z.number().nonnegative();
const texts = z.array(z.string()).readonly();

/** Control characters would split a message when it is sent. */
const headerTextPattern = /^[\t\x20-\x7e\x80-\xff]*$/;
const headerNamePattern = /^[\x21-\x7e\x80-\x9f\xa1-\xff]+$/;
const methodPattern = /^[A-Za-z][A-Za-z-]{0,31}$/;
const headerText = z.string().regex(headerTextPattern);
const headerName = z.string().regex(headerNamePattern);

const HeaderPairs = z.array(z.tuple([headerName, headerText]).readonly()).readonly();
export type HeaderPairs = z.infer<typeof HeaderPairs>;

const Wire = z.object({
  bytes: size,
  encodings: texts.describe(
    "Outermost first: gzip, br, deflate, base64, form, lz64 …, also those that no header announced",
  ),
  trouble: z.string().optional().describe("Why it could not be decoded further"),
});
export type WireForm = z.infer<typeof Wire>;

/** The only names of side files: nothing in a tape can lead out of its folder. */
export const sideName = /^[0-9a-f]{64}$/;

const bodyKinds = ["json", "text", "b64", "file", "omitted"];
const hasOneKind = (value: unknown): boolean =>
  typeof value === "object" && value !== null && bodyKinds.filter((kind) => Object.hasOwn(value, kind)).length === 1;

const TapeBody = z
  .unknown()
  .refine(hasOneKind)
  .pipe(
    z.union([
      // the deepest body that is read has 128 levels; deeper ones are written as text
      z.object({ json: z.custom<Json>((it) => it !== undefined).refine((it) => !isTooDeep(it)) }),
      z.object({ text: z.string() }),
      z.object({ b64: z.string() }),
      z.object({
        file: z.string().regex(sideName).describe("Name of its side file: the hash of the content"),
        bytes: size,
        as: z.enum(["json", "text"]).optional().describe("Absent for bytes"),
      }),
      z.object({ omitted: z.string().describe("Why it is not on the tape"), bytes: size }),
    ]),
  );
export type TapeBody = z.infer<typeof TapeBody>;

const isAddress = (it: string): boolean => /^https?:\/\//i.test(it) && URL.canParse(it);

const TapeRequest = z.object({
  method: z.string().regex(methodPattern),
  url: z.string().refine(isAddress),
  http: z.string(),
  headers: HeaderPairs,
  wire: Wire,
  body: TapeBody.optional(),
});

const TapeResponse = z.object({
  status: z.int().min(100).max(999),
  reason: headerText,
  http: z.string(),
  headers: HeaderPairs,
  wire: Wire,
  body: TapeBody.optional(),
  ttfb: ms.describe("Milliseconds to the first byte"),
  total: ms,
  chunks: z
    .array(z.tuple([ms.describe("Milliseconds from the request"), size.describe("Bytes by then")]).readonly())
    .readonly()
    .optional()
    .describe("When the parts of the body came; absent: as a whole"),
});

/** One request and its answer: one line of a tape. */
export const Exchange = z.object({
  i: z.int().positive().describe("From 1, in the order of arrival"),
  at: z.string().refine((it) => !Number.isNaN(Date.parse(it))),
  route: z.string().describe("flags, capture, GET /api/projects/:id/dashboards …"),
  req: TapeRequest,
  res: TapeResponse.nullable().describe("null: no response came"),
  complete: z.boolean().describe("False: cut off; replayed if the service did it"),
  aborted: z.enum(["client", "upstream"]).optional(),
  redacted: texts.describe("Places of placeholders, e.g. req.headers.authorization"),
  client: z.string().optional(),
});
export type Exchange = z.infer<typeof Exchange>;

const areHeaders = (headers: HeaderPairs): boolean =>
  headers.every(([name, value]) => headerNamePattern.test(name) && headerTextPattern.test(value));

const isPlain = (body: TapeBody | undefined): boolean =>
  body === undefined || ("json" in body ? !isTooDeep(body.json) : !("file" in body));

/** A cheap check of what the type does not promise; `wrongField` decides of all that are not sound by it. */
export function isSound({ i, at, req, res }: Exchange): boolean {
  const isRequest =
    Number.isSafeInteger(i) &&
    i > 0 &&
    !Number.isNaN(Date.parse(at)) &&
    methodPattern.test(req.method) &&
    isAddress(req.url) &&
    areHeaders(req.headers) &&
    isPlain(req.body);
  if (!isRequest || res === null) return isRequest;
  const { status, reason, ttfb, total } = res;
  const isStatus = Number.isInteger(status) && status >= 100 && status <= 999;
  const areTimes = ttfb >= 0 && total >= 0 && Number.isFinite(ttfb + total);
  return isStatus && areTimes && headerTextPattern.test(reason) && areHeaders(res.headers) && isPlain(res.body);
}

export function wrongField(value: unknown): string | undefined {
  const path = safeParse(Exchange, value).error?.issues[0]?.path;
  if (path === undefined) return undefined;
  return path[0] === "req" || path[0] === "res" ? path.slice(0, 2).join(".") : String(path[0] ?? "line");
}

/** True for a parsed line with all that a replay or a sender relies on. Further keys are left alone. */
export const isExchange = (value: unknown): value is Exchange => safeParse(Exchange, value).success;
