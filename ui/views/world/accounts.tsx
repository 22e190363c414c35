import type { ShownOrganization, ShownProject } from "../../../src/control/world/types.ts";
import { link } from "../../app/location.ts";
import { Badge, CopyButton, Empty, Scrolled, Section } from "../../parts/basics.tsx";
import { counted, plain } from "../../parts/text.ts";

/** Organizations with their people and projects. */
export function Accounts({ organizations }: { organizations: readonly ShownOrganization[] }) {
  if (organizations.length === 0) {
    return (
      <Empty title="There is no organization">
        <p>A scenario file makes them, or POST /api/organizations/ with a personal key.</p>
      </Empty>
    );
  }
  return (
    <>
      {organizations.map((it) => (
        <Section key={it.id} title={plain(it.name)} actions={<span class="muted">{plain(it.slug)}</span>}>
          <div class="world-grid">
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

const made: readonly (readonly [keyof ShownProject["counts"], singular: string, view: readonly string[]])[] =
  [
    ["dashboards", "dashboard", ["world", "dashboards"]],
    ["insights", "insight", []],
    ["feature_flags", "flag", ["flags"]],
    ["cohorts", "cohort", []],
    ["batch_exports", "export", ["exports"]],
    ["surveys", "survey", []],
  ];

function Project({ project }: { project: ShownProject }) {
  const { id, name, api_key, timezone, adopted, ephemeral, counts } = project;
  return (
    <article class="world-card" aria-label={`Project ${plain(name)}`}>
      <header>
        <h3>{plain(name)}</h3>
        <span class="muted">#{id}</span>
        {adopted && (
          <Badge tone="odd" title="Made from a key that no project had (--adopt-tokens)">
            adopted
          </Badge>
        )}
        {ephemeral && (
          <Badge tone="note" title="Made for one test; it goes when the test ends">
            test
          </Badge>
        )}
      </header>
      <p class="world-key">
        <code class="cut">{plain(api_key)}</code>
        <CopyButton text={api_key} label="Copy key" kind="quiet" />
      </p>
      <p class="world-counts">
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
        {Object.values(counts).every((it) => it === 0) && <span class="muted">nothing made yet</span>}
        <span class="muted">{timezone}</span>
      </p>
    </article>
  );
}

function Members({ members }: { members: ShownOrganization["members"] }) {
  return (
    <Scrolled label="Members">
      <table class="table world-members">
        <thead>
          <tr>
            <th scope="col">Member</th>
            <th scope="col">E-mail</th>
            <th scope="col">Level</th>
          </tr>
        </thead>
        <tbody>
          {members.map(({ user, name, email, level }) => (
            <tr key={user}>
              <td>{plain(name) || "–"}</td>
              <td>{plain(email)}</td>
              <td>{level}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  );
}
