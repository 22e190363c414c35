import type { Mishap, RunVerdict, VerdictSection } from "../../src/testing/run-report/shapes.ts";
import { Badge, Code, Prose, Scrolled, Section } from "../parts/basics.tsx";
import { Table } from "../parts/layout.tsx";
import { Fix } from "../parts/outcome.tsx";
import { counted, numberText, plain } from "../parts/text.ts";

const LeftOut = ({ count, of }: { count: number; of: string }) =>
  count === 0 ? null : <p class="muted">… and {counted(count, of)} more</p>;

function testsText({ tests }: Mishap): string {
  const names = tests.items.map(({ name, count }) => `${plain(name, 120)}${count > 1 ? ` ×${count}` : ""}`);
  return [...names, ...(tests.left_out > 0 ? [`and ${tests.left_out} more`] : [])].join(", ");
}

interface MishapsProps {
  title: string;
  found: { readonly total: number; readonly items: readonly Mishap[]; readonly left_out: number };
  /** A sentence above them. */
  summary?: string;
}

/** Equal mistakes, each with its reason, fix and tests; nothing if there are none. */
export function Mishaps({ title, found, summary }: MishapsProps) {
  if (found.items.length === 0 && summary === undefined) return null;
  return (
    <Section title={`${title} (${numberText(found.total)})`}>
      {summary !== undefined && <p class="lead">{plain(summary)}</p>}
      {found.items.length > 0 && (
        <Scrolled label={title}>
          <Table columns={["what", ["times", "number"], "what happened, and what to do", "tests"]}>
            {found.items.map((it, i) => (
              <tr key={i}>
                <td class="mono">{plain(it.what, 300)}</td>
                <td class="number">{numberText(it.count)}</td>
                <td>
                  <code>{plain(it.code, 80)}</code>: <Prose text={plain(it.sentence)} />{" "}
                  <Fix text={plain(it.fix)} class="muted" />
                </td>
                <td>{testsText(it)}</td>
              </tr>
            ))}
          </Table>
        </Scrolled>
      )}
      <LeftOut count={found.left_out} of="kind" />
    </Section>
  );
}

export const FurtherSection = ({ section }: { section: VerdictSection }) => (
  <Mishaps title={plain(section.title, 100)} found={section} summary={section.summary} />
);

export function Lint({ lint }: Pick<RunVerdict, "lint">) {
  if (lint.items.length === 0) return null;
  return (
    <Section title={`Linter (${counted(lint.warnings, "warning")}, ${counted(lint.hints, "hint")})`}>
      <Scrolled label="Linter">
        <Table columns={["", "event", ["times", "number"], "what is odd, and what to do", "test"]}>
          {lint.items.map((it, i) => (
            <tr key={i}>
              <td>
                <Badge tone={it.severity === "warning" ? "odd" : "plain"}>{it.severity}</Badge>
              </td>
              <td class="mono">{plain(it.event ?? `request ${it.n}`, 120)}</td>
              <td class="number">{numberText(it.count)}</td>
              <td>
                <code>{it.code}</code>: <Prose text={plain(it.sentence)} /> ({plain(it.detail)}){" "}
                <Fix text={plain(it.fix)} class="muted" />
              </td>
              <td>{plain(it.test ?? "", 120)}</td>
            </tr>
          ))}
        </Table>
      </Scrolled>
      <LeftOut count={lint.left_out} of="finding" />
    </Section>
  );
}

/** Reports that are text. */
export const TextReport = ({ title, text }: { title: string; text: string }) => (
  <Section title={title}>
    <Code
      text={text
        .split("\n")
        .map((line) => plain(line, 1_000))
        .join("\n")}
    />
  </Section>
);

const valueText = (value: boolean | string | null): string => (value === null ? "no value" : plain(String(value), 80));

export function Flags({ flags }: Pick<RunVerdict, "flags">) {
  if (flags.items.length === 0) return null;
  return (
    <Section title={`Flags (${flags.items.length + flags.left_out})`}>
      <Scrolled label="Flags">
        <Table columns={["flag", ["served", "number"], ["used", "number"], "values"]}>
          {flags.items.map(({ key, served, called, values }) => (
            <tr key={key}>
              <td class="mono">{plain(key, 120)}</td>
              <td class="number">{numberText(served)}</td>
              <td class="number">{numberText(called)}</td>
              <td>{values.map((it) => `${valueText(it.value)} ×${Math.max(it.served, it.called)}`).join(", ")}</td>
            </tr>
          ))}
        </Table>
      </Scrolled>
      <LeftOut count={flags.left_out} of="flag" />
    </Section>
  );
}

export function Sdks({ sdks }: Pick<RunVerdict, "sdks">) {
  if (sdks.items.length === 0) return null;
  return (
    <Section title="SDKs">
      <Scrolled label="SDKs">
        <Table columns={["name", "version", ["requests", "number"], ["kept", "number"], ["dropped", "number"], ""]}>
          {sdks.items.map(({ name, version, requests, kept, dropped, hints }) => (
            <tr key={`${name} ${version}`}>
              <td>{plain(name, 100)}</td>
              <td>{plain(version ?? "", 100)}</td>
              <td class="number">{numberText(requests)}</td>
              <td class="number">{numberText(kept)}</td>
              <td class="number">{numberText(dropped)}</td>
              <td>
                <Prose text={plain(hints.join("; "))} />
              </td>
            </tr>
          ))}
        </Table>
      </Scrolled>
      <LeftOut count={sdks.left_out} of="client" />
    </Section>
  );
}

export function EventNames({ events }: Pick<RunVerdict, "events">) {
  const { items, left_out } = events.names;
  if (items.length === 0) return null;
  return (
    <Section title={`Events by name (${numberText(items.length + left_out)})`}>
      <Scrolled label="Events by name">
        <Table columns={["event", ["kept", "number"], ["dropped", "number"]]}>
          {items.map(({ event, kept, dropped }) => (
            <tr key={event}>
              <td class="mono">{plain(event, 200) || "(no name)"}</td>
              <td class="number">{numberText(kept)}</td>
              <td class="number">{numberText(dropped)}</td>
            </tr>
          ))}
        </Table>
      </Scrolled>
      <LeftOut count={left_out} of="name" />
    </Section>
  );
}
