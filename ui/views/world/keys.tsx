import { useState } from "preact/hooks";
import type { WorldSummary } from "../../../src/management/world-shapes.ts";
import { call } from "../../api/call.ts";
import { useAction } from "../../app/use-action.ts";
import { Button, CopyButton, Scrolled, Section, Trouble } from "../../parts/basics.tsx";
import { Table } from "../../parts/layout.tsx";
import { plain } from "../../parts/text.ts";

/** Keys; all but project keys are masked until revealed. */
export function Keys({ world }: { world: WorldSummary }) {
  const projects = world.organizations.flatMap((it) => it.projects);
  return (
    <>
      <Section title="Personal keys">
        <p class="lead">
          They give access to the management API. Scopes limit a key; <code>*</code> allows everything.
        </p>
        <Scrolled label="Personal keys">
          <Table columns={["Label", "Key", "Owner", "Scopes", "Limited to"]}>
            {world.personal_api_keys.map((it) => (
              <tr key={it.id}>
                <td>{plain(it.label) || "–"}</td>
                <td>
                  <Secret key={it.key} id={it.id} masked={it.key} />
                </td>
                <td>{plain(it.owner)}</td>
                <td>{it.scopes.map((scope) => plain(scope)).join(", ")}</td>
                <td>{it.limited_to.map((name) => plain(name)).join(", ") || "everything of its owner"}</td>
              </tr>
            ))}
          </Table>
        </Scrolled>
      </Section>
      <Section title="Project keys">
        <p class="lead">
          The project key is public and part of apps. The secret key is for local evaluation and remote
          config.
        </p>
        <Scrolled label="Project keys">
          <Table columns={["Project", "Project key", "Secret key"]}>
            {projects.map((it) => (
              <tr key={it.id}>
                <td>{plain(it.name)}</td>
                <td>
                  <code>{plain(it.api_key)}</code> <CopyButton text={it.api_key} kind="quiet" />
                </td>
                <td>
                  <Secret key={it.secret_api_key} id={String(it.id)} masked={it.secret_api_key} />
                </td>
              </tr>
            ))}
          </Table>
        </Scrolled>
      </Section>
    </>
  );
}

/** A key that is masked until revealed; kept in memory only. */
function Secret({ id, masked }: { id: string; masked: string }) {
  const [key, setKey] = useState<string>();
  const { problem, run } = useAction();
  const reveal = () =>
    run(call<{ key: string }>("GET", `world/keys/${encodeURIComponent(id)}`), (it) => setKey(it.key));
  return (
    <>
      <code>{plain(key ?? masked)}</code>{" "}
      <Button kind="quiet" onClick={key === undefined ? reveal : () => setKey(undefined)}>
        {key === undefined ? "Show" : "Hide"}
      </Button>
      {key !== undefined && <CopyButton text={key} kind="quiet" />}
      {problem && <Trouble problem={problem} />}
    </>
  );
}
