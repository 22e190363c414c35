import { isObject, type Json } from "../../../src/kernel/json.ts";
import type { RequestInFull } from "../../api/requests.ts";
import { Code, Section } from "../../parts/basics.tsx";
import { sizeText } from "../../parts/text.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { whyText } from "./decoding.ts";

/** What the journal has in the place of a large or binary answer. */
function omittedIn(reply: Json): { why: string; bytes: number } | undefined {
  if (!isObject(reply) || Object.keys(reply).length !== 2) return undefined;
  const { omitted, bytes } = reply;
  return typeof omitted === "string" && typeof bytes === "number"
    ? { why: whyText(omitted), bytes }
    : undefined;
}

/** What was answered. */
export function Answer({ request }: { request: RequestInFull }) {
  return (
    <Section title="Answer">
      <AnswerBody {...request} />
    </Section>
  );
}

function AnswerBody({ status, reply }: Pick<RequestInFull, "status" | "reply">) {
  const omitted = omittedIn(reply);
  if (status === 0) return <p class="muted">A fault kept the answer from arriving.</p>;
  if (reply === null) return <p class="muted">Status {status}, no body.</p>;
  if (omitted)
    return (
      <p class="muted">
        Status {status}, {sizeText(omitted.bytes)}. The body is not kept: {omitted.why}.
      </p>
    );
  if (typeof reply === "string") return <Code label={`Status ${status}, text`} text={reply} />;
  return (
    <>
      <p class="requests-chain">
        <span>Status {status}</span>
        <span>JSON</span>
      </p>
      <PayloadTree value={reply} label="Answer" search open={2} />
    </>
  );
}
