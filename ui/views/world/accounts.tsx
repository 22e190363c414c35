import { useState } from "preact/hooks";
import type {
  OrganizationSummary,
  ProjectSummary,
  WorldSummary,
} from "../../../src/service/management/world-shapes.ts";
import { call } from "../../api/call.ts";
import { link } from "../../app/location.ts";
import { useAction } from "../../app/use-action.ts";
import { Badge, Button, CopyButton, Empty, Scrolled, Section, Trouble } from "../../parts/basics.tsx";
import { Table } from "../../parts/layout.tsx";
import { counted, plain } from "../../parts/text.ts";

export function Accounts({ organizations }: { organizations: readonly OrganizationSummary[] }) {
  if (organizations.length === 0) {
    return (
      <Empty title="No organizations">
        <p>Create them in a scenario file, or with POST /api/organizations/ and a personal key.</p>
      </Empty>
    );
  }
  return (
    <>
      {organizations.map((it) => (
        <Section key={it.id} title={plain(it.name)} actions={<span class="muted">{plain(it.slug)}</span>}>
          <div class="cards">
            {it.projects.map((project) => (
              <Project key={project.id} project={project} />
            ))}
          </div>
          <Members members={it.members} />
        </Section>
      ))}
    </>
  );
}

const made: readonly (readonly [keyof ProjectSummary["counts"], singular: string, view: readonly string[]])[] = [
  ["dashboards", "dashboard", ["world", "dashboards"]],
  ["insights", "insight", []],
  ["feature_flags", "flag", ["flags"]],
  ["cohorts", "cohort", []],
  ["batch_exports", "export", ["exports"]],
  ["surveys", "survey", []],
];

function Project({ project }: { project: ProjectSummary }) {
  const { id, name, api_key, timezone, adopted, ephemeral, counts } = project;
  return (
    <article class="stack card world-card" aria-label={`Project ${plain(name)}`}>
      <header class="row row-base">
        <h3>{plain(name)}</h3>
        <span class="muted">#{id}</span>
        {adopted && (
          <Badge tone="odd" title="Created for an unknown key (--adopt-tokens)">
            adopted
          </Badge>
        )}
        {ephemeral && (
          <Badge tone="note" title="Created for one test and removed after it">
            test
          </Badge>
        )}
      </header>
      <p class="row world-key">
        <code class="cut">{plain(api_key)}</code>
        <CopyButton text={api_key} label="Copy key" kind="quiet" />
      </p>
      <p class="row row-wide">
        {made.map(([kind, singular, [view, ...path]]) => {
          const text = counted(counts[kind], singular);
          if (counts[kind] === 0) return null;
          if (view === undefined) return <span key={kind}>{text}</span>;
          return (
            <a key={kind} href={link(view, path, { project: id })}>
              {text}
            </a>
          );
        })}
        {Object.values(counts).every((it) => it === 0) && <span class="muted">empty</span>}
        <span class="muted">{timezone}</span>
      </p>
    </article>
  );
}

function Members({ members }: { members: OrganizationSummary["members"] }) {
  return (
    <Scrolled label="Members">
      <Table class="world-members" columns={["Member", "E-mail", "Level"]}>
        {members.map(({ user, name, email, level }) => (
          <tr key={user}>
            <td>{plain(name) || "–"}</td>
            <td>{plain(email)}</td>
            <td>{level}</td>
          </tr>
        ))}
      </Table>
    </Scrolled>
  );
}

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
                <td>{it.limited_to.map((name) => plain(name)).join(", ") || "not limited"}</td>
              </tr>
            ))}
          </Table>
        </Scrolled>
      </Section>
      <Section title="Project keys">
        <p class="lead">
          The project key is public and part of apps. The secret key is for local evaluation and remote config.
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
