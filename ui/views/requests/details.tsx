import { fixFor } from "../../../src/kernel/http/rejection-fixes.ts";
import { isUnmatched } from "../../../src/state/journal/unmatched.ts";
import { download } from "../../api/call.ts";
import { headerOf, type RequestInFull } from "../../api/requests.ts";
import { useLast, useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { info, projectName } from "../../app/sim.ts";
import { useAction } from "../../app/use-action.ts";
import { greetings } from "../../feed/socket.ts";
import { Badge, Button, CopyButton, Facts, Headers, Prose, Section, Time, Trouble } from "../../parts/basics.tsx";
import { plain } from "../../parts/text.ts";
import { Body, Carried, ResponsePart, Results } from "./contents.tsx";
import { harName, harPath, requestCurl, requestFetch } from "./copies.ts";
import { SourceText, VerdictBadge } from "./row.tsx";
import { msText, readSource, sourceInFull, verdictOf } from "./row-texts.ts";
import { projectFoundBy, sdkOf } from "./sender.ts";

export interface DetailsProps {
  n: number;
  onNewer: (() => void) | undefined;
  onOlder: (() => void) | undefined;
}

export function RequestDetails({ n, onNewer, onOlder }: DetailsProps) {
  const loaded = useResource<RequestInFull>(`requests/${n}`, { revision: greetings.value });
  const { problem } = loaded;
  // the old data stays while the next loads: no flicker while stepping
  const data = useLast(loaded.data);
  const shown = problem || !data ? n : data.n;
  return (
    <article class="requests-details" aria-label={`Request ${shown}`} aria-busy={shown !== n}>
      <header class="row row-tight requests-title">
        <h2>Request {shown}</h2>
        <StepButton to={onNewer} label="Newer request" title="Newer (k)" sign="↑" />
        <StepButton to={onOlder} label="Older request" title="Older (j)" sign="↓" />
      </header>
      {problem && <Trouble problem={problem} />}
      {data && !problem && <InFull key={data.n} request={data} />}
    </article>
  );
}

interface StepButtonProps {
  to: (() => void) | undefined;
  label: string;
  title: string;
  sign: string;
}

const StepButton = ({ to, label, title, sign }: StepButtonProps) => (
  <Button kind="quiet" onClick={to} disabled={!to} title={title} aria-label={label}>
    {sign}
  </Button>
);

function InFull({ request }: { request: RequestInFull }) {
  return (
    <>
      <Summary request={request} />
      {request.carried.length > 0 && <Carried request={request} />}
      {request.results && <Results results={request.results} />}
      <Body request={request} />
      <ResponsePart request={request} />
      <Section title="Request headers">
        <Headers headers={request.headers} />
      </Section>
      {request.reply_headers.length > 0 && (
        <Section title="Response headers">
          <Headers headers={request.reply_headers} />
        </Section>
      )}
    </>
  );
}

const stateOf = (it: RequestInFull) => ({
  outcome: it.outcome,
  unmatched: isUnmatched(it.rejected ? { rejected: it.rejected } : {}),
  reason: it.rejected?.reason ?? null,
  status: it.status,
  dropped: it.dropped,
});

function Summary({ request }: { request: RequestInFull }) {
  const verdict = verdictOf(stateOf(request));
  const sdk = sdkOf(request);
  const agent = headerOf(request, "user-agent");
  const source = sourceInFull(request);
  const base = info.value?.url ?? location.origin;
  return (
    <section class="section">
      <p class="mono">
        <b>{plain(request.method, 20)}</b> {plain(request.target, 2_000)}
      </p>
      <p class="row row-tight requests-badges">
        <VerdictBadge verdict={verdict} />
        <Badge>{request.status === 0 ? "no response" : `status ${request.status}`}</Badge>
        <Badge>{msText(request.ms)}</Badge>
        {request.fault !== null && <Badge tone="bad">{`fault ${plain(request.fault, 80)}`}</Badge>}
      </p>
      {request.rejected && <Rejection request={request} />}
      <Facts
        rows={{
          Arrived: <Time at={request.at} isExact />,
          SDK: sdk && plain(sdk, 200),
          From: plain(agent === undefined ? request.peer : `${request.peer}, ${agent}`, 300),
          Project: <ProjectFact request={request} />,
          Source: (
            <>
              <SourceText row={source} />
              <span class="muted">{`, ${readSource(source).note}`}</span>
            </>
          ),
          Test: request.partition === null ? undefined : plain(request.partition, 200),
        }}
      />
      <p class="row requests-copies">
        <CopyButton label="Copy as curl" text={() => requestCurl(request, base)} />
        <CopyButton label="Copy as fetch" text={() => requestFetch(request, base)} />
        <CopyButton label="Copy link" text={() => `${location.origin}/__sim/${link("requests", [request.n])}`} />
        <HarButton n={request.n} />
      </p>
    </section>
  );
}

function HarButton({ n }: { n: number }) {
  const { problem, run } = useAction();
  const wanted = { from: n, to: n };
  return (
    <>
      <Button onClick={() => run(download(harPath(wanted), harName(wanted)))}>HAR</Button>
      {problem && <Trouble problem={problem} />}
    </>
  );
}

function ProjectFact({ request }: { request: RequestInFull }) {
  const found = projectFoundBy(request);
  const name = request.project === null ? "none" : plain(projectName(request.project), 80);
  if (!found) return <>{name}</>;
  const verb = request.project === null ? "not found by" : "found by";
  return (
    <>
      {name}{" "}
      <span class="muted">
        {verb} {found.where}, {plain(found.value, 120)}
      </span>
    </>
  );
}

function Rejection({ request }: { request: RequestInFull }) {
  const { rejected } = request;
  if (!rejected) return null;
  const { unmatched } = stateOf(request);
  const fix = rejected.hint ?? fixFor(rejected.reason, info.value?.project_api_key ?? "");
  return (
    <div class="stack stack-tight callout callout-rejected">
      <p>
        <b>{unmatched ? "This path is not emulated." : plain(rejected.detail, 2_000)}</b>{" "}
        {!unmatched && <code class="muted">{plain(rejected.reason, 80)}</code>}
      </p>
      {fix !== "" && (
        <p>
          Fix: <Prose text={plain(fix, 500)} />
        </p>
      )}
    </div>
  );
}
