import type { ComponentChildren } from "preact";
import { Facts } from "../../../parts/basics.tsx";
import type { KindProps } from "../event-facts.ts";
import { Named } from "../event-parts.tsx";
import { type PageFacts, pageFacts, spentText, urlParts, type Visit, visitIn } from "./page-facts.ts";
import { NotShown, ValueList } from "./value-list.tsx";

/** The first tab of `$pageview`, `$pageleave` and `$screen`. */
export function PageView({ event }: KindProps) {
  const facts = pageFacts(event.properties);
  const visit = visitIn(event.properties);
  const name = facts.screen ?? facts.title;
  return (
    <div class="stack stack-loose">
      {name !== undefined && (
        <p class="first-sentence">
          <b>
            <Named text={name} otherwise="" />
          </b>
        </p>
      )}
      <Address facts={facts} />
      <Facts rows={{ Referrer: <Referrer facts={facts} /> }} />
      {facts.campaign.length > 0 && (
        <Part title="Campaign">
          <ValueList label="Campaign" values={facts.campaign} />
        </Part>
      )}
      {visit && (
        <Part title={event.event === "$pageleave" ? "The visit" : "The page before"}>
          <VisitFacts visit={visit} />
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="stack">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Address({ facts: { url, screen, campaign } }: { facts: PageFacts }) {
  if (url === undefined)
    return screen !== undefined ? null : <p class="muted">The event has no $current_url and no $pathname.</p>;
  const parts = urlParts(url);
  if (parts === undefined)
    return (
      <p class="first-url mono">
        <Named text={url} otherwise="" />
      </p>
    );
  // campaign parameters have a part of their own
  const query = parts.query.filter(([name, value]) => !campaign.some((it) => it[0] === name && it[1] === value));
  return (
    <div class="stack">
      <p class="first-url mono">
        <span class="muted">
          <Named text={parts.origin} otherwise="" />
        </span>
        <b>
          <Named text={parts.path} otherwise="" />
        </b>
        {parts.hash !== "" && (
          <span class="muted">
            <Named text={parts.hash} otherwise="" />
          </span>
        )}
      </p>
      {query.length > 0 && <ValueList label="Query" values={query} />}
      <NotShown left={parts.left} noun="parameter" />
    </div>
  );
}

function Referrer({ facts: { referrer, isDirect } }: { facts: PageFacts }) {
  if (referrer === undefined)
    return <span class="muted">{isDirect ? "none: typed, or from a bookmark" : "not sent"}</span>;
  return (
    <span class="mono">
      <Named text={referrer} otherwise="" />
    </span>
  );
}

const percent = (share: number | undefined): string | undefined =>
  share === undefined ? undefined : `${Math.round(share * 100)} %`;

function VisitFacts({ visit: { path, spent, scrolled, seen } }: { visit: Visit }) {
  return (
    <Facts
      rows={{
        Page: path && (
          <span class="mono">
            <Named text={path} otherwise="" />
          </span>
        ),
        "Time spent": spent === undefined ? undefined : <b class="number">{spentText(spent)}</b>,
        Scrolled: percent(scrolled),
        "Content seen": percent(seen),
      }}
    />
  );
}
