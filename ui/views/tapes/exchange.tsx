import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { Badge, Code, Facts, Section, Time, Trouble } from "../../parts/basics.tsx";
import { counted, plain, sizeText } from "../../parts/text.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import type { Exchange, HeaderPairs, TapeBody } from "./shape.ts";

/** One exchange as it was recorded. */
export function ExchangeDetails({ i, revision }: { i: number; revision: string }) {
  const { data, problem } = useResource<Exchange>(`tapes/exchanges/${i}`, { revision });
  return (
    <>
      <header class="tapes-title">
        <h2>Exchange {i}</h2>
      </header>
      {problem && <Trouble problem={problem} />}
      {data && <Recorded exchange={data} />}
    </>
  );
}

function Recorded({ exchange }: { exchange: Exchange }) {
  const { request, response, redacted } = exchange;
  return (
    <>
      <section class="section">
        <p class="mono tapes-target">
          <b>{plain(exchange.method, 20)}</b> {plain(exchange.url, 2_000)}
        </p>
        <p class="tapes-badges">
          <Badge>{exchange.status === null ? "no answer" : `status ${exchange.status}`}</Badge>
          {exchange.used ? <Badge tone="good">used</Badge> : <Badge>not used yet</Badge>}
          {!exchange.complete && <Badge tone="odd">cut off</Badge>}
        </p>
        <Facts
          rows={[
            ["Recorded", <Time key="at" at={Date.parse(exchange.at)} isExact />],
            ["Route", plain(exchange.route, 200)],
            exchange.ms === null ? undefined : ["Took", `${Math.round(exchange.ms)} ms`],
            exchange.client === null ? undefined : ["Client", plain(exchange.client, 200)],
            ["Taken out", redacted.length === 0 ? "nothing" : plain(redacted.join(", "), 1_000)],
            [
              "Answered",
              <a key="link" href={link("requests", [], { f: `source:tape:*#${exchange.i}` })}>
                the requests that it answered
              </a>,
            ],
          ]}
        />
      </section>
      <Section title="Request">
        <BodyPart body={request.body} label="Recorded request" />
        <Headers headers={request.headers} />
      </Section>
      <Section title="Answer">
        {response === null ? (
          <p class="muted">None came.</p>
        ) : (
          <>
            <BodyPart body={response.body} label="Recorded answer" />
            <Headers headers={response.headers} />
          </>
        )}
      </Section>
    </>
  );
}

function BodyPart({ body, label }: { body: TapeBody | undefined; label: string }) {
  if (body === undefined) return <p class="muted">No body.</p>;
  if ("json" in body) return <PayloadTree value={body.json} label={label} search open={2} />;
  if ("text" in body) return <Code label="Text" text={body.text} />;
  if ("b64" in body) return <Code label="Bytes, as base64" text={body.b64} />;
  if ("file" in body)
    return (
      <p class="muted">
        {sizeText(body.bytes)}, beside the tape in {plain(body.file, 200)}.
      </p>
    );
  return <p class="muted">{sizeText(body.bytes)}, not kept.</p>;
}

function Headers({ headers }: { headers: HeaderPairs }) {
  return (
    <details class="tapes-headers">
      <summary>{counted(headers.length, "header")}</summary>
      <table class="table">
        <tbody>
          {headers.map(([name, value], i) => (
            <tr key={`${i} ${name}`}>
              <th scope="row">{plain(name, 200)}</th>
              <td class="mono">{plain(value, 4_000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
