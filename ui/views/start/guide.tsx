import { useState } from "preact/hooks";
import { dialectNotes } from "../../../src/world/dialect-names.ts";
import { link, project, route } from "../../app/location.ts";
import { type Info, info } from "../../app/sim.ts";
import { stat } from "../../feed/socket.ts";
import { Button, Code, CopyButton, Facts, Secret, Section } from "../../parts/basics.tsx";
import { Tabs } from "../../parts/layout.tsx";
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

export function Guide({ title }: { title: string }) {
  const sim = info.value;
  if (!sim) return null;
  const target = targetOf(sim);
  return (
    <Section title={title} actions={<TestEvent projectKey={target.projectKey} />}>
      <div class="stack stack-loose">
        <Facts
          rows={{
            Host: <Copied text={target.host} />,
            "Project key": <Copied text={target.projectKey} />,
            "Personal key": target.personalKey ? (
              <Secret value={target.personalKey} label="personal key" />
            ) : undefined,
            Dialect: (
              <>
                <a href={link("world", ["dialect"])}>{sim.dialect}</a>, {dialectNotes[sim.dialect]}
              </>
            ),
          }}
        />
        <p class="muted">
          Set the host and the key; nothing else changes. The personal key is for the management API only.
        </p>
        <Ways target={target} />
      </div>
    </Section>
  );
}

const Copied = ({ text }: { text: string }) => (
  <span class="row">
    <code>{text}</code>
    <CopyButton text={text} kind="quiet" />
  </span>
);

function Ways({ target }: { target: Target }) {
  const ways = waysFor(target);
  const shown = ways.find(({ id }) => id === route.value.params.with) ?? ways[0];
  if (!shown) return null;
  return (
    <div class="stack stack-wide start-ways">
      <Tabs
        label="How your app sends events"
        current={shown.id}
        tabs={ways.map(({ id, title }) => ({ id, title, href: link("start", [], { with: id }) }))}
      />
      {shown.snippets.map(({ where, code }) => (
        <Code key={`${shown.id} ${where}`} label={where} text={code} />
      ))}
      <ul class="stack stack-tight muted">
        {shown.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
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
      <span role="status" class={sent?.isTaken === false ? "bad" : "muted"}>
        {sent?.text}
      </span>
      <Button kind="main" onClick={send}>
        Send a test event
      </Button>
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
