import { useState } from "preact/hooks";
import type { FlagDecisions as Decisions } from "../../../src/service/flags/decision-shapes.ts";
import type { FlagInFull } from "../../../src/service/flags/shapes.ts";
import { go, link, withParams } from "../../app/location.ts";
import { Badge, Button, Scrolled, Time } from "../../parts/basics.tsx";
import { TextInput } from "../../parts/fields.tsx";
import { isOverridden, reasonWords, valueText, valueTone } from "../../parts/flag-trace/trace-words.ts";
import { Icon } from "../../parts/icon.tsx";
import { Table } from "../../parts/layout.tsx";
import { plain } from "../../parts/text.ts";

const most = 7;

/** The newest decisions, in a table. */
export function RecentDecisions({ flag, loaded }: { flag: FlagInFull; loaded: Decisions | undefined }) {
  const rows = (loaded?.decisions ?? []).flatMap((made) => {
    const decided = made.flags.find((it) => it.key === flag.key);
    return decided ? [{ made, decided }] : [];
  });
  return (
    <section class="flags-card" aria-labelledby="flags-recent">
      <header class="row">
        <h3 id="flags-recent">Newest decisions</h3>
        <a class="small end" href={withParams({ tab: "decisions" })}>
          All decisions
        </a>
      </header>
      {rows.length === 0 ? (
        <p class="flags-note muted">No client has asked for it yet.</p>
      ) : (
        <Scrolled label="Newest decisions, scroll sideways">
          <Table class="flags-recent" columns={["Time", "Distinct id", "Value", "Because", "Request"]}>
            {rows.slice(0, most).map(({ made, decided }) => (
              <tr key={`${made.request} ${made.seq}`}>
                <td class="muted">
                  <Time at={made.at} />
                </td>
                <td>
                  {made.distinct_id === null ? (
                    <span class="muted">none</span>
                  ) : (
                    <a href={link("people", [made.distinct_id], { part: "journey" })}>{plain(made.distinct_id, 40)}</a>
                  )}
                </td>
                <td>
                  <Badge tone={decided.failed ? "odd" : valueTone(decided.value)} isMarked={false}>
                    {valueText(decided.value)}
                  </Badge>
                </td>
                <td class="muted">{isOverridden(decided) ? <b>override</b> : plain(reasonWords(decided), 100)}</td>
                <td class="number">
                  <a href={link("requests", [made.request])}>#{made.request}</a>
                </td>
              </tr>
            ))}
          </Table>
        </Scrolled>
      )}
    </section>
  );
}

const mostOverrides = 10;

/** Overrides in force. */
export function ActiveOverrides({ flag }: { flag: FlagInFull }) {
  const { overrides } = flag;
  return (
    <section class="flags-card" aria-labelledby="flags-active">
      <header class="row">
        <h3 id="flags-active">Overrides</h3>
        <a class="small end" href={withParams({ tab: "overrides" })}>
          Override…
        </a>
      </header>
      <ul class="stack flags-card-in">
        {overrides.length === 0 && <li class="muted">None: the rules decide.</li>}
        {overrides.slice(0, mostOverrides).map((it) => (
          <li key={it.distinct_id === null ? "" : `of ${it.distinct_id}`} class="row row-tight">
            <span class="accent">
              <Icon of="pin" />
            </span>
            <b>{it.distinct_id === null ? "everyone" : plain(it.distinct_id, 60)}</b> gets{" "}
            <Badge tone={valueTone(it.value)} isMarked={false}>
              {valueText(it.value)}
            </Badge>
            <span class="small muted end">
              since <Time at={it.created_at} />
            </span>
          </li>
        ))}
        {overrides.length > mostOverrides && <li class="muted">{`and ${overrides.length - mostOverrides} more`}</li>}
      </ul>
    </section>
  );
}

/** Leads to the explanation for an id. */
export function AskWhy() {
  const [id, setId] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (id.trim() !== "") go(withParams({ tab: "explain", distinct_id: id.trim() }));
  };
  return (
    <section class="flags-card" aria-labelledby="flags-ask">
      <header class="row">
        <h3 id="flags-ask">Why would an id get it?</h3>
      </header>
      <form class="row flags-card-in flags-ask" onSubmit={submit}>
        <TextInput
          aria-label="Distinct id to explain"
          placeholder="distinct id"
          autocomplete="off"
          spellcheck={false}
          value={id}
          onText={setId}
        />
        <Button type="submit" kind="main">
          Explain
        </Button>
      </form>
    </section>
  );
}
