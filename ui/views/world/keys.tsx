import { useSignal } from "@preact/signals";
import type { ShownWorld } from "../../../src/control/world/types.ts";
import { call, problemOf, type SimProblem } from "../../api/call.ts";
import { Button, CopyButton, Scrolled, Section, Trouble } from "../../parts/basics.tsx";
import { plain } from "../../parts/text.ts";

/** Keys: project keys are public, the others are masked until somebody asks. */
export function Keys({ world }: { world: ShownWorld }) {
  const projects = world.organizations.flatMap((it) => it.projects);
  return (
    <>
      <Section title="Personal keys">
        <p class="world-lead">
          They open the management API. Each may do what its scopes say; <code>*</code> is all.
        </p>
        <Scrolled label="Personal keys">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Label</th>
                <th scope="col">Key</th>
                <th scope="col">Owner</th>
                <th scope="col">Scopes</th>
                <th scope="col">Limited to</th>
              </tr>
            </thead>
            <tbody>
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
            </tbody>
          </table>
        </Scrolled>
      </Section>
      <Section title="Project keys">
        <p class="world-lead">
          The project key is public: apps carry it. The secret key is for local evaluation and remote config.
        </p>
        <Scrolled label="Project keys">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Project</th>
                <th scope="col">Project key</th>
                <th scope="col">Secret key</th>
              </tr>
            </thead>
            <tbody>
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
            </tbody>
          </table>
        </Scrolled>
      </Section>
    </>
  );
}

/** A key that is masked until it is asked for; it stays in this page's memory only, until it is another one. */
function Secret({ id, masked }: { id: string; masked: string }) {
  const shown = useSignal<string | undefined>(undefined);
  const problem = useSignal<SimProblem | undefined>(undefined);
  const reveal = async () => {
    try {
      shown.value = (await call<{ key: string }>("GET", `world/keys/${encodeURIComponent(id)}`)).key;
      problem.value = undefined;
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  const hide = () => {
    shown.value = undefined;
  };
  const key = shown.value;
  return (
    <>
      <code>{plain(key ?? masked)}</code>{" "}
      <Button kind="quiet" onClick={key === undefined ? reveal : hide}>
        {key === undefined ? "Show" : "Hide"}
      </Button>
      {key !== undefined && <CopyButton text={key} kind="quiet" />}
      {problem.value && <Trouble problem={problem.value} />}
    </>
  );
}
