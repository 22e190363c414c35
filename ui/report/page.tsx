import { useMemo, useState } from "preact/hooks";
import type { ReportData } from "../../src/testing/run-report/report-data.ts";
import type { RunVerdict } from "../../src/testing/run-report/shapes.ts";
import { Badge, Facts, Prose, Tiles, Time } from "../parts/basics.tsx";
import { CheckField, SelectField } from "../parts/fields.tsx";
import { counted, numberText, plain, spanText } from "../parts/text.ts";
import { byProject, type Choice, chosen, type Entry, entriesOf } from "./entries.ts";
import { EventNames, Flags, FurtherSection, Lint, Mishaps, Sdks, TextReport } from "./findings.tsx";
import { Tests } from "./tests.tsx";

const everything: Choice = { text: "", outcome: "all", kinds: ["event", "flags"] };

function Head({ verdict }: { verdict: RunVerdict }) {
  const { command, started_at, ended_at, failures, next_steps, faults } = verdict;
  const isPassed = verdict.verdict === "passed";
  const { kept, dropped } = verdict.events;
  const { total, rejected, unmatched } = verdict.requests;
  return (
    <header class="section report-head">
      <h1>
        {plain(verdict.title, 300)} <Badge tone={isPassed ? "good" : "bad"}>{verdict.verdict}</Badge>
      </h1>
      {failures.length > 0 && (
        <ul class="callout callout-dropped">
          {failures.map(({ code, text }) => (
            <li key={code}>{plain(text, 1_000)}</li>
          ))}
        </ul>
      )}
      <Tiles
        rows={[
          { label: "events kept", count: kept },
          { label: "events dropped", count: dropped, tone: "bad" },
          { label: "requests", count: total },
          { label: "requests rejected", count: rejected + unmatched, tone: "outcome-rejected" },
          { label: "tests", count: verdict.tests.items.length + verdict.tests.left_out },
        ]}
      />
      {next_steps.length > 0 && (
        <section class="stack stack-tight">
          <h2>Next steps</h2>
          <ol class="report-steps">
            {next_steps.map(({ text, command: line }, i) => (
              <li key={i}>
                <Prose text={plain(text, 1_000)} />
                {line !== null && <code class="report-command">{plain(line, 300)}</code>}
              </li>
            ))}
          </ol>
        </section>
      )}
      <Facts
        rows={{
          started: <Time at={started_at} isWhole />,
          took: spanText(Date.parse(ended_at) - Date.parse(started_at)),
          "exit code": command ? `${verdict.exit_code}, of the command ${command.exit_code}` : undefined,
          "--fail-on": verdict.fail_on.length > 0 ? verdict.fail_on.join(", ") : undefined,
          faults:
            faults.items.length > 0
              ? faults.items
                  .map(({ name, requests }) => `${plain(name, 80)} (${counted(requests, "request")})`)
                  .join(", ")
              : undefined,
          "phx-sim": verdict.version,
        }}
      />
    </header>
  );
}

function Limits({ left_out }: Pick<ReportData, "left_out">) {
  const { events, requests, decisions, properties } = left_out;
  const parts = [
    ...(events > 0 ? [`${counted(events, "older event")}`] : []),
    ...(requests > 0 ? [`${counted(requests, "older request")}`] : []),
    ...(decisions ? ["older flag decisions"] : []),
    ...(properties > 0 ? [`the properties of ${counted(properties, "event")}`] : []),
  ];
  if (parts.length === 0) return null;
  return <p class="callout callout-warned">Left out, to keep this page small: {parts.join(", ")}.</p>;
}

interface SearchProps {
  choice: Choice;
  count: number;
  all: number;
  onChange(choice: Choice): void;
}

function Search({ choice, count, all, onChange }: SearchProps) {
  const { kinds } = choice;
  const toggled = (kind: Entry["kind"]) => (isChecked: boolean) =>
    onChange({ ...choice, kinds: isChecked ? [...kinds, kind] : kinds.filter((it) => it !== kind) });
  return (
    <form class="toolbar report-search row row-wide" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        class="input"
        aria-label="Search"
        placeholder="Search events, properties, ids, paths, flags"
        value={choice.text}
        onInput={(event) => onChange({ ...choice, text: event.currentTarget.value })}
      />
      <SelectField
        label="Outcome"
        value={choice.outcome}
        options={["all", "kept", "warned", "dropped", "rejected"]}
        onText={(text) =>
          onChange({
            ...choice,
            outcome: (["kept", "warned", "dropped", "rejected"] as const).find((it) => it === text) ?? "all",
          })
        }
      />
      <CheckField label="Events" isChecked={kinds.includes("event")} onChange={toggled("event")} />
      <CheckField label="Requests" isChecked={kinds.includes("request")} onChange={toggled("request")} />
      <CheckField label="Flag decisions" isChecked={kinds.includes("flags")} onChange={toggled("flags")} />
      <output class="muted">
        {numberText(count)} of {numberText(all)}
      </output>
    </form>
  );
}

/** The whole report. */
export function Report({ data }: { data: ReportData }) {
  const { verdict } = data;
  const [choice, setChoice] = useState(everything);
  const all = useMemo(() => entriesOf(data), [data]);
  const shown = useMemo(() => chosen(all, choice), [all, choice]);
  const groups = useMemo(() => byProject(shown), [shown]);
  const { plan, tape } = verdict;
  return (
    <main class="report">
      <Head verdict={verdict} />
      <Limits left_out={data.left_out} />
      <Mishaps title="Dropped events" found={verdict.dropped} />
      <Mishaps title="Rejected requests" found={verdict.rejected} />
      <Mishaps title="Requests to unknown paths" found={verdict.unmatched} />
      <Mishaps title="Blocked calls to the real service" found={verdict.egress} />
      {verdict.sections.map((it) => (
        <FurtherSection key={it.name} section={it} />
      ))}
      <Search choice={choice} count={shown.length} all={all.length} onChange={setChoice} />
      <Tests verdict={verdict} groups={groups} isFiltered={choice !== everything} />
      <Lint lint={verdict.lint} />
      {plan && <TextReport title={`Tracking plan (${counted(plan.violations, "violation")})`} text={plan.text} />}
      {tape && <TextReport title="Tape" text={tape.text} />}
      <Flags flags={verdict.flags} />
      <EventNames events={verdict.events} />
      <Sdks sdks={verdict.sdks} />
    </main>
  );
}
