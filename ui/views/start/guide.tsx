import { useSignal } from "@preact/signals";
import { dialectNotes } from "../../../src/kernel/dialect.ts";
import { link, project, route } from "../../app/location.ts";
import { info, type SimInfo } from "../../app/sim.ts";
import { stat } from "../../feed/socket.ts";
import { Button, Code, CopyButton, Facts, Secret, Section } from "../../parts/basics.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { type Target, waysFor } from "./snippets.ts";
import { type Sent, sendTestEvent } from "./test-event.ts";

/** What belongs to the project that is chosen; without a choice, to the sim's first. */
function targetOf(sim: SimInfo): Target {
  const chosen = sim.projects.find(({ id }) => id === project.value);
  return {
    // the address that led here works from here
    host: location.origin,
    projectKey: chosen?.api_key ?? sim.project_api_key ?? "",
    personalKey: sim.personal_api_key,
    projectId: chosen?.id ?? sim.project_id ?? 1,
  };
}

/** What to paste where. */
export function Guide({ title }: { title: string }) {
  const sim = info.value;
  if (!sim) return null;
  const target = targetOf(sim);
  return (
    <Section title={title} actions={<TestEvent projectKey={target.projectKey} />}>
      <div class="start-guide">
        <Facts
          rows={[
            ["Host", <Copied key="host" text={target.host} />],
            ["Project key", <Copied key="key" text={target.projectKey} />],
            target.personalKey === null
              ? undefined
              : ["Personal key", <Secret key="secret" value={target.personalKey} label="personal key" />],
            [
              "Dialect",
              <span key="dialect">
                <a href={link("world", ["dialect"])}>{sim.dialect}</a>, {dialectNotes[sim.dialect]}
              </span>,
            ],
          ]}
        />
        <p class="muted">
          Set the host and the key, nothing else changes. The personal key is for the management API only.
        </p>
        <Ways target={target} />
      </div>
    </Section>
  );
}

const Copied = ({ text }: { text: string }) => (
  <span class="secret">
    <code>{text}</code>
    <CopyButton text={text} kind="quiet" />
  </span>
);

function Ways({ target }: { target: Target }) {
  const ways = waysFor(target);
  const shown = ways.find(({ id }) => id === route.value.params.with) ?? ways[0];
  if (!shown) return null;
  return (
    <div class="start-ways">
      <Tabs
        label="How your app sends events"
        current={shown.id}
        tabs={ways.map(({ id, title }) => ({ id, title, href: link("start", [], { with: id }) }))}
      />
      {shown.snippets.map(({ where, code }) => (
        <Code key={`${shown.id} ${where}`} label={where} text={code} />
      ))}
      <ul class="start-notes muted">
        {shown.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </div>
  );
}

/** Through the same door as an app's events. While requests are passed on it would reach the service itself. */
function TestEvent({ projectKey }: { projectKey: string }) {
  const sent = useSignal<Sent | undefined>(undefined);
  const send = async () => {
    sent.value = await sendTestEvent(projectKey);
  };
  if (stat.value?.recording) return null;
  return (
    <span class="start-test">
      <span role="status" class={sent.value?.isTaken === false ? "start-failed" : "muted"}>
        {sent.value?.text}
      </span>
      <Button kind="main" onClick={send}>
        Send a test event
      </Button>
    </span>
  );
}
