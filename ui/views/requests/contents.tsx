import type { ComponentProps } from "preact";
import { useState } from "preact/hooks";
import { isObject, type Json } from "../../../src/kernel/base/json.ts";
import type { StoredEvent } from "../../../src/state/journal/stored-event.ts";
import { bodyOf, decodeChain, type RequestInFull } from "../../api/requests.ts";
import { link } from "../../app/location.ts";
import { Button, Code, Prose, Section } from "../../parts/basics.tsx";
import { Table } from "../../parts/layout.tsx";
import { Fix, OutcomeBadge } from "../../parts/outcome.tsx";
import { asSentence, counted, explained, numberText, plain, sizeText } from "../../parts/text.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { type HexLine, mostBytes, type RawView, rawView, whyText } from "./decoding.ts";

const page = 50;

/** Events of a request and their outcomes. */
export function Carried({ request }: { request: RequestInFull }) {
  const [shown, setShown] = useState(page);
  const { carried, dropped } = request;
  const left = carried.length - shown;
  return (
    <Section title={`${counted(carried.length, "event")}${dropped > 0 ? `, ${numberText(dropped)} dropped` : ""}`}>
      <Table columns={[["No.", "number"], "Event", ["Distinct id", "requests-id"], "Outcome"]}>
        {carried.slice(0, shown).map((event) => (
          <tr key={event.seq}>
            <td class="number">{event.seq}</td>
            <td>
              <a href={link("events", [event.seq])}>{event.event === "" ? "(no name)" : plain(event.event, 200)}</a>
            </td>
            <td>{plain(event.distinct_id, 200)}</td>
            <td>
              <Outcome event={event} />
            </td>
          </tr>
        ))}
      </Table>
      {left > 0 && (
        <Button onClick={() => setShown(shown + 10 * page)}>Show more of {numberText(carried.length)}</Button>
      )}
    </Section>
  );
}

function Outcome({ event }: { event: StoredEvent }) {
  if (event.reason !== null) {
    const { sentence, fix } = explained(event.reason);
    return (
      <>
        <OutcomeBadge of="dropped" /> <Prose text={`${sentence}.`} /> <Fix class="muted" text={fix} />
      </>
    );
  }
  if (event.warnings.length > 0)
    return (
      <>
        <OutcomeBadge of="warned" />{" "}
        <Prose text={`${event.warnings.map((it) => explained(it).sentence).join("; ")}.`} />
      </>
    );
  return <OutcomeBadge of="kept" />;
}

const resultSigns: Readonly<Record<string, ComponentProps<typeof OutcomeBadge>["of"]>> = {
  ok: "kept",
  drop: "dropped",
  retry: "rejected",
};

/** What the response of capture v1 reports for each event. */
export function Results({ results }: { results: NonNullable<RequestInFull["results"]> }) {
  const [shown, setShown] = useState(page);
  return (
    <Section title="Results in the response">
      <Table columns={["Event", "Result"]}>
        {results.slice(0, shown).map(({ uuid, event, result, details, explanation }) => (
          <tr key={uuid}>
            <td>
              {event === "" ? "(no name)" : plain(event, 200)} <br />
              <code class="muted requests-id">{plain(uuid, 40)}</code>
            </td>
            <td>
              <OutcomeBadge of={resultSigns[result] ?? "warned"}>{plain(result, 40)}</OutcomeBadge>{" "}
              {details !== null && <code>{plain(details, 200)}</code>}
              {explanation !== null && <Prose text={`${details === null ? "" : ": "}${asSentence(explanation)}`} />}
            </td>
          </tr>
        ))}
      </Table>
      {results.length > shown && (
        <Button onClick={() => setShown(shown + 10 * page)}>Show more of {numberText(results.length)}</Button>
      )}
    </Section>
  );
}

/** The request body, decoded or raw. */
export function Body({ request }: { request: RequestInFull }) {
  const raw = rawView(request);
  const [isRaw, setRaw] = useState(false);
  const chain = decodeChain(request);
  const body = bodyOf(request);
  const hasBody = body !== null;
  if (!hasBody && raw.is === "none")
    return (
      <Section title="Request body">
        <p class="muted">None.</p>
      </Section>
    );
  return (
    <Section
      title="Request body"
      actions={
        hasBody &&
        raw.is !== "none" && (
          <span class="row row-tight">
            <Button isPressed={!isRaw} onClick={() => setRaw(false)}>
              Decoded
            </Button>
            <Button isPressed={isRaw} onClick={() => setRaw(true)}>
              Raw
            </Button>
          </span>
        )
      }
    >
      <p class="row row-wide chain">
        {chain.map((step, i) => (
          <span key={`${i} ${step}`}>{step}</span>
        ))}
      </p>
      {hasBody && !isRaw ? <PayloadTree value={body} label="Request body" search open={3} /> : <Raw raw={raw} />}
    </Section>
  );
}

function Raw({ raw }: { raw: RawView }) {
  if (raw.is === "none") return null;
  if (raw.is === "text") return <Code text={raw.text} />;
  if (raw.is === "omitted")
    return (
      <p class="muted">
        {sizeText(raw.bytes)} were sent. They were not kept: {raw.why}.
      </p>
    );
  return (
    <>
      <Hex lines={raw.lines} />
      <p class="muted">
        {raw.bytes > mostBytes
          ? `The first ${sizeText(mostBytes)} of ${sizeText(raw.bytes)}.`
          : `${sizeText(raw.bytes)}.`}
      </p>
    </>
  );
}

function hexText(lines: readonly HexLine[]): string {
  const width = Math.max(0, ...lines.map((it) => it.hex.length));
  return lines.map(({ offset, hex, text }) => `${offset}  ${hex.padEnd(width)}  ${text}`).join("\n");
}

const Hex = ({ lines }: { lines: readonly HexLine[] }) => <Code text={hexText(lines)} />;

/** The journal's placeholder for a large or binary response. */
function omittedIn(reply: Json): { why: string; bytes: number } | undefined {
  if (!isObject(reply) || Object.keys(reply).length !== 2) return undefined;
  const { omitted, bytes } = reply;
  return typeof omitted === "string" && typeof bytes === "number" ? { why: whyText(omitted), bytes } : undefined;
}

export function ResponsePart({ request }: { request: RequestInFull }) {
  return (
    <Section title="Response">
      <ResponseBody {...request} />
    </Section>
  );
}

function ResponseBody({ status, reply }: Pick<RequestInFull, "status" | "reply">) {
  const omitted = omittedIn(reply);
  if (status === 0) return <p class="muted">A fault prevented the response.</p>;
  if (reply === null) return <p class="muted">Status {status}, no body.</p>;
  if (omitted)
    return (
      <p class="muted">
        Status {status}, {sizeText(omitted.bytes)}. The body was not kept: {omitted.why}.
      </p>
    );
  if (typeof reply === "string") return <Code label={`Status ${status}, text`} text={reply} />;
  return (
    <>
      <p class="row row-wide chain">
        <span>Status {status}</span>
        <span>JSON</span>
      </p>
      <PayloadTree value={reply} label="Response" search open={2} />
    </>
  );
}
