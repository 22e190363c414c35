import type { SdkTotal, SdkTotals } from "../../../src/state/journal/sdk-shapes.ts";
import { link } from "../../app/location.ts";
import { figureText, type Totals } from "../../app/sim.ts";
import { Prose, Scrolled, Time } from "../../parts/basics.tsx";
import { nameTerm } from "../../parts/filter-box/filter-text.ts";
import { Table } from "../../parts/layout.tsx";
import { OutcomeSign } from "../../parts/outcome.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { Card } from "./card.tsx";

const shownSdks = 8;
const shownHints = 5;

/** The SDKs and other clients, with what they lost. */
export function Senders({ totals }: { totals: SdkTotals | undefined }) {
  if (!totals || totals.sdks.length === 0) return null;
  const { sdks, more, complete } = totals;
  const shown = sdks.slice(0, shownSdks);
  const others = sdks.length - shown.length + more;
  const hints = sdks.flatMap((it) => it.hints).slice(0, shownHints);
  return (
    <Card title="What arrives">
      <Scrolled label="SDKs">
        <Table columns={["SDK", "Version", ["Events", "number"], ["Lost", "number"], ["Last", "number"]]}>
          {shown.map((it) => (
            <SenderRow key={`${it.name} ${it.version} ${it.is_sdk}`} sdk={it} isExact={complete} />
          ))}
        </Table>
      </Scrolled>
      {others > 0 && <p class="muted small">and {counted(others, "other version")} of SDKs and clients</p>}
      {hints.map((hint) => (
        <p key={hint} class="small muted">
          <OutcomeSign of="warned" /> <Prose text={`${plain(hint, 300)}.`} />
        </p>
      ))}
    </Card>
  );
}

function SenderRow({ sdk, isExact }: { sdk: SdkTotal; isExact: boolean }) {
  const { name, version, is_sdk, kept, dropped, rejected, last, last_at, hints } = sdk;
  return (
    <tr>
      <td>
        <b>{plain(name, 60)}</b> {!is_sdk && <span class="muted">no SDK</span>}
      </td>
      <td class="start-version">
        {version === null ? <span class="muted">unknown</span> : plain(version, 40)}{" "}
        {hints.length > 0 && <OutcomeSign of="warned" />}
      </td>
      <td class="number">{figureText(kept + dropped, isExact)}</td>
      <td class="number">
        {dropped > 0 ? <span class="outcome-dropped">{figureText(dropped, isExact)}</span> : rejected === 0 && "0"}
        {rejected > 0 && (
          <div class="outcome-rejected small" title={`${counted(rejected, "request")} rejected`}>
            {numberText(rejected)} rejected
          </div>
        )}
      </td>
      <td class="number">
        <a href={link("requests", [last])}>
          <Time at={last_at} />
        </a>
      </td>
    </tr>
  );
}

const shownNames = 8;
const nameText = (text: string): string => (text === "" ? "(no name)" : plain(text, 80));

/** Events by name, the most frequent ones first. */
export function Names({ events }: { events: Totals["events"] }) {
  const { names, more_names, names_complete, complete } = events;
  if (names.length === 0) return null;
  const more = Math.max(0, names.length - shownNames) + more_names;
  return (
    <Card title="Events by name" actions={<a href={link("events")}>All events</a>}>
      <Table columns={["Event", ["Count", "number"], ["Lost", "number"], ["Last", "number"]]}>
        {names.slice(0, shownNames).map(({ event, count, dropped, last, last_at }) => (
          <tr key={event}>
            <td>
              <a href={link("events", [], { f: nameTerm(event) })}>{nameText(event)}</a>
            </td>
            <td class="number">{figureText(count, complete)}</td>
            <td class={dropped > 0 ? "number outcome-dropped" : "number"}>{figureText(dropped, complete)}</td>
            <td class="number">
              <a href={link("events", [last])}>
                {last_at === null ? `event ${numberText(last)}` : <Time at={last_at} />}
              </a>
            </td>
          </tr>
        ))}
      </Table>
      {more > 0 && (
        <p class="muted small">{`and ${figureText(more, names_complete)} other ${more === 1 ? "name" : "names"}`}</p>
      )}
    </Card>
  );
}
