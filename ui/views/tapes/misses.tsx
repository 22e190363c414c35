import { link } from "../../app/location.ts";
import { Badge, Section } from "../../parts/basics.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { pathOf } from "./modes.ts";
import type { Ledger, Miss, Nearest } from "./shape.ts";

/** Misses that are shown; the rest are like them more often than not. */
const most = 100;

/** What was asked for in vain, and how it differs from what is on the tape. */
export function Misses({ ledger }: { ledger: Ledger }) {
  const { misses } = ledger;
  if (misses.length === 0) return null;
  return (
    <Section title="Not on the tape">
      <div class="tapes-misses">
        {misses.slice(0, most).map((miss) => (
          <MissCard key={`${miss.method} ${miss.target} ${miss.route}`} miss={miss} />
        ))}
      </div>
      {misses.length > most && <p class="muted">… and {numberText(misses.length - most)} more.</p>}
    </Section>
  );
}

function MissCard({ miss }: { miss: Miss }) {
  const [first, ...rest] = miss.nearest;
  return (
    <article class="tapes-miss">
      <header>
        <Badge tone="bad">{miss.times === 1 ? "missed" : `missed ${numberText(miss.times)} times`}</Badge>
        <span class="mono tapes-target">
          <b>{plain(miss.method, 20)}</b> {plain(miss.target, 500)}
        </span>
        <span class="muted">{plain(miss.route, 120)}</span>
      </header>
      {first ? <NearestExchange nearest={first} /> : <p class="muted">Nothing on the tape is like it.</p>}
      {rest.length > 0 && (
        <details>
          <summary>{counted(rest.length, "exchange")} more like it</summary>
          {rest.map((it) => (
            <NearestExchange key={it.i} nearest={it} />
          ))}
        </details>
      )}
    </article>
  );
}

/** A recorded exchange that is like what was asked for, and where it differs. */
function NearestExchange({ nearest: { i, method, url, differing } }: { nearest: Nearest }) {
  return (
    <div class="tapes-nearest">
      <p>
        Nearest:{" "}
        <a href={link("tapes", ["exchanges", i])}>
          #{i} {plain(method, 20)} {plain(pathOf(url), 300)}
        </a>
      </p>
      {differing.length === 0 ? (
        <p class="muted">It asks for the same; it was used up, or was cut off.</p>
      ) : (
        <Differing differing={differing} />
      )}
    </div>
  );
}

function Differing({ differing }: Pick<Nearest, "differing">) {
  return (
    <table class="table tapes-differing">
      <thead>
        <tr>
          <th scope="col">Where they differ</th>
          <th scope="col">On the tape</th>
          <th scope="col">Asked for</th>
        </tr>
      </thead>
      <tbody>
        {differing.slice(0, 50).map(({ path, recorded, asked }) => (
          <tr key={path}>
            <th scope="row">
              <code>{plain(path, 300)}</code>
            </th>
            <td>
              <code>{plain(recorded, 1_000)}</code>
            </td>
            <td class="tapes-asked">
              <code>{plain(asked, 1_000)}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
