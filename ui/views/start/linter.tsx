import { useState } from "preact/hooks";
import type { LintFinding, LintPage } from "../../../src/lab/lint/shapes.ts";
import { link } from "../../app/location.ts";
import { Button } from "../../parts/basics.tsx";
import { nameTerm } from "../../parts/filter-box/filter-text.ts";
import { counted, plain } from "../../parts/text.ts";
import { Card } from "./card.tsx";
import { Finding } from "./finding.tsx";

const shownFirst = 4;
const mostShown = 100;

const withoutTicks = (text: string): string => plain(text, 300).replaceAll("`", "'");

/** Likely mistakes in events that are kept. */
export function Linter({ page }: { page: LintPage | undefined }) {
  const [isLong, setLong] = useState(false);
  if (!page || page.findings.length === 0) return null;
  const { findings, behind } = page;
  const shown = findings.slice(0, isLong ? mostShown : shownFirst);
  const hidden = findings.length - shown.length;
  return (
    <Card
      title="Linter"
      actions={
        <span class="muted">{behind > 0 ? `${counted(behind, "event")} left to read` : "kept, but look at it"}</span>
      }
    >
      <ul class="start-findings">
        {shown.map((it) => (
          <Found key={`${it.code} ${it.project} ${it.event} ${it.detail}`} finding={it} />
        ))}
      </ul>
      {hidden > 0 &&
        (isLong ? (
          <p class="muted">and {counted(hidden, "further finding")}</p>
        ) : (
          <Button kind="quiet" onClick={() => setLong(true)}>
            Show {counted(Math.min(findings.length, mostShown) - shown.length, "further finding")}
          </Button>
        ))}
    </Card>
  );
}

function Found({ finding }: { finding: LintFinding }) {
  const { code, severity, sentence, fix, event, detail, last_seq: seq, count, n } = finding;
  return (
    <Finding
      of={severity === "warning" ? "warned" : undefined}
      title={sentence}
      count={counted(count, "time")}
      fix={fix}
    >
      <code>{code}</code>
      {detail !== "" && ` · ${withoutTicks(detail)}`}
      {event !== null && (
        <>
          {" · "}
          <a href={link("events", [], { f: nameTerm(event) })}>{event === "" ? "(no name)" : plain(event, 80)}</a>
        </>
      )}
      {" · "}
      <a href={seq === null ? link("requests", [n]) : link("events", [seq])}>the last one</a>
    </Finding>
  );
}
