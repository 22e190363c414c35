import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { dialectNotes } from "../../../src/state/documents/dialect-names.ts";
import { link, project, route } from "../../app/location.ts";
import { type Info, info } from "../../app/sim.ts";
import { stat } from "../../feed/socket.ts";
import { Button, Code, CopyButton, Facts, Prose, Secret } from "../../parts/basics.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Card } from "./card.tsx";
import { type Target, waysFor } from "./snippets.ts";

/** Address and keys of the selected project, else of the first one. */
function targetOf(sim: Info): Target {
  const chosen = sim.projects.find(({ id }) => id === project.value);
  return {
    host: location.origin,
    projectKey: chosen?.api_key ?? sim.project_api_key ?? "",
    personalKey: sim.personal_api_key,
    projectId: chosen?.id ?? sim.project_id ?? 1,
  };
}

interface FirstRunProps {
  /** Nothing arrived yet. */
  isEmpty: boolean;
  /** Other projects have events. */
  isElsewhere: boolean;
  ways: ComponentChildren;
}

/** One thing to paste, one thing to wait for, the keys, and what to try when nothing comes. */
export function FirstRun({ isEmpty, isElsewhere, ways }: FirstRunProps) {
  const sim = info.value;
  if (!sim) return null;
  const target = targetOf(sim);
  return (
    <div class="start">
      <section class="start-verdict" aria-label="Verdict">
        <Icon of="start" />
        <div role="status">
          <h2>{isEmpty ? "Ready. Nothing has arrived yet" : "Connect another app"}</h2>
        </div>
        {ways}
        <p class="muted">
          {isElsewhere && (
            <>
              <a href={link("start", [], { project: undefined })}>Other projects</a> have events.{" "}
            </>
          )}
          Point your app here and this page fills by itself. Nothing leaves this machine.
        </p>
      </section>
      <Card title="1. Paste this into your app">
        <Snippets target={target} />
      </Card>
      <div class="start-columns is-even">
        <Card title={isEmpty ? "2. Wait for the first event" : "2. Send an event"}>
          {isEmpty && (
            <p class="start-wait">
              <span class="shell-dot" /> Listening on <code>{location.host}</code>
            </p>
          )}
          <TestEvent projectKey={target.projectKey} />
          <Help />
        </Card>
        <Card title="Your keys">
          <Keys target={target} />
          <p class="small muted">
            Made up for this machine: they open nothing elsewhere. The personal key is for the management API only.
            Dialect: <a href={link("world", ["dialect"])}>{sim.dialect}</a>, {dialectNotes[sim.dialect]}.
          </p>
        </Card>
      </div>
    </div>
  );
}

const Keys = ({ target }: { target: Target }) => (
  <Facts
    rows={{
      Project: <Copied text={target.projectKey} />,
      Personal: target.personalKey ? <Secret value={target.personalKey} label="personal key" /> : undefined,
      Host: <Copied text={target.host} />,
    }}
  />
);

const Copied = ({ text }: { text: string }) => (
  <span class="row">
    <code>{text}</code>
    <CopyButton text={text} kind="quiet" />
  </span>
);

/** What to try when nothing comes, the most frequent cause first. */
const advice = [
  "An ad blocker often blocks requests to `/e/` of other hosts: open the app as localhost.",
  "Server SDKs send in batches: wait some seconds, or call `flush()` or `shutdown()`.",
  "Automated browsers count as bots: pass `opt_out_useragent_filter: true` to `posthog.init`.",
  "In a container, 127.0.0.1 is the container: start with `--host 0.0.0.0` and use `host.docker.internal`.",
  "`phx-sim doctor` checks the environment, the port and the keys.",
];

const Help = () => (
  <details>
    <summary>Nothing comes?</summary>
    <ul class="start-advice muted">
      {advice.map((text) => (
        <li key={text}>
          <Prose text={text} />
        </li>
      ))}
    </ul>
  </details>
);

function Snippets({ target }: { target: Target }) {
  const ways = waysFor(target);
  const shown = ways.find(({ id }) => id === route.value.params.with) ?? ways[0];
  if (!shown) return null;
  return (
    <div class="start-paste">
      <nav class="start-picks" aria-label="How your app sends events">
        {ways.map(({ id, title }) => (
          <a
            key={id}
            class="start-pick"
            href={link("start", [], { with: id })}
            aria-current={id === shown.id ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <div class="stack stack-wide">
        {shown.snippets.map(({ where, code }) => (
          <Code key={`${shown.id} ${where}`} label={where} text={code} />
        ))}
        <ul class="stack stack-tight small muted">
          {shown.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** Sends a test event as an SDK does. Hidden while recording: the event would reach the real service. */
function TestEvent({ projectKey }: { projectKey: string }) {
  const [sent, setSent] = useState<Sent>();
  const send = async () => setSent(await sendTestEvent(projectKey));
  if (stat.value?.recording) return null;
  return (
    <span class="row">
      <Button onClick={send}>Send a test event</Button>
      <span role="status" class={sent?.isTaken === false ? "bad" : "small muted"}>
        {sent?.text ?? "goes the whole way, over HTTP"}
      </span>
    </span>
  );
}

interface Sent {
  readonly isTaken: boolean;
  readonly text: string;
}

/** Sends an event as an SDK does, with the project's key. */
async function sendTestEvent(projectKey: string): Promise<Sent> {
  const properties = { $lib: "phx-sim inspector", sent_from: "the inspector's first page" };
  const body = { api_key: projectKey, event: "test event", distinct_id: "inspector", properties };
  try {
    const response = await fetch("/i/v0/e/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.ok
      ? { isTaken: true, text: "Sent." }
      : { isTaken: false, text: `Rejected with ${response.status}.` };
  } catch {
    return { isTaken: false, text: "Not sent: the sim did not respond." };
  }
}
