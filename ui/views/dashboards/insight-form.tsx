import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import type { DashboardSummaries } from "../../../src/service/management/world-shapes.ts";
import { call, problemOf, query as queryString, type SimProblem } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { go, link, project, route } from "../../app/location.ts";
import { numberIn } from "../../app/route.ts";
import { info, revision, worldRevision } from "../../app/sim.ts";
import { useAction } from "../../app/use-action.ts";
import { Button, Code, Section, Trouble } from "../../parts/basics.tsx";
import { SelectField, TextField } from "../../parts/fields.tsx";
import { InsightCard } from "../../parts/insight/board.tsx";
import type { Answer } from "../../parts/insight/picture.ts";
import { plain } from "../../parts/text.ts";
import { type Conditions, conditionsOf } from "./conditions.ts";
import { insightTest } from "./copies.ts";
import {
  draftIntervals,
  draftKinds,
  draftMaths,
  draftName,
  draftOf,
  draftQuery,
  draftRanges,
  draftScenario,
  type InsightDraft,
  missingIn,
} from "./draft.ts";
import { usePaced } from "./paced.ts";

/** A new insight from a filter of events: a form, its result, and the same as code. */
export function InsightForm({ filter }: { filter: string }) {
  const conditions = useMemo(() => conditionsOf(filter), [filter]);
  const draft = useSignal<InsightDraft>(draftOf(conditions));
  const [typedName, setName] = useState<string>();
  const name = typedName ?? draftName(draft.value);
  const owner = conditions.project ?? project.value ?? info.value?.projects[0]?.id;
  const missing = missingIn(draft.value);
  const query = missing === undefined ? draftQuery(draft.value, conditions) : undefined;
  const preview = usePreview(owner, query);
  const save = useSave(owner, name, query);
  return (
    <Section title="New insight">
      <div class="dashboards-new">
        <form
          class="stack stack-wide"
          onSubmit={(event) => {
            event.preventDefault();
            save.save();
          }}
        >
          <DraftFields value={draft.value} onChange={(change) => (draft.value = { ...draft.value, ...change })} />
          <ConditionList filter={filter} conditions={conditions} />
          <TextField label="Name" value={name} onText={setName} />
          <SelectField
            label="Dashboard"
            value={save.dashboard}
            options={[...save.dashboards, ["new", "a new dashboard"], ["", "on no dashboard"]]}
            onText={save.choose}
          />
          {missing !== undefined && <p class="muted">{missing}</p>}
          {save.problem && <Trouble problem={save.problem} />}
          <span class="row">
            <Button kind="main" type="submit" disabled={query === undefined || name.trim() === ""}>
              Save the insight
            </Button>
          </span>
        </form>
        <div class="stack stack-wide">
          <article class="insight-card" aria-label="Preview">
            <InsightCard
              title={plain(name, 200)}
              query={query ?? null}
              answer={preview.answer}
              problem={preview.problem && <Trouble problem={preview.problem} />}
              setting={preview.setting}
            />
          </article>
          {query && (
            <>
              <Code label="In a scenario file" text={draftScenario(name, query, save.title)} />
              <Code label="In a test" text={insightTest(name, query, preview.answer)} />
            </>
          )}
        </div>
      </div>
    </Section>
  );
}

interface DraftFieldsProps {
  value: InsightDraft;
  onChange(change: Partial<InsightDraft>): void;
}

function DraftFields({ value, onChange }: DraftFieldsProps) {
  const { kind, events, math, mathProperty, breakdown, interval, range } = value;
  const isFunnel = kind === "funnel";
  return (
    <div class="fields">
      <SelectField
        label="Kind"
        value={kind}
        options={draftKinds}
        onText={(text) => onChange({ kind: draftKinds.find(([it]) => it === text)?.[0] ?? "trend" })}
      />
      <TextField
        label={isFunnel ? "Steps, in order" : "Events"}
        hint="Names with commas between"
        placeholder={isFunnel ? "basket_opened, order_completed" : "any event"}
        value={events}
        onText={(text) => onChange({ events: text })}
      />
      {!isFunnel && (
        <SelectField
          label="Counts"
          value={math}
          options={draftMaths.map(({ id, text }) => [id, text] as const)}
          onText={(text) => onChange({ math: text })}
        />
      )}
      {!isFunnel && draftMaths.some((it) => it.id === math && it.isOfProperty) && (
        <TextField
          label="Property that is counted"
          placeholder="amount"
          value={mathProperty}
          onText={(text) => onChange({ mathProperty: text })}
        />
      )}
      {kind !== "number" && (
        <TextField
          label="Broken down by property"
          placeholder="none"
          value={breakdown}
          onText={(text) => onChange({ breakdown: text })}
        />
      )}
      {kind === "trend" && (
        <SelectField
          label="Interval"
          value={interval}
          options={draftIntervals}
          onText={(text) => onChange({ interval: text })}
        />
      )}
      <SelectField label="Range" value={range} options={draftRanges} onText={(text) => onChange({ range: text })} />
    </div>
  );
}

/** The filter that the insight was made from, and what of it a query cannot express. */
function ConditionList({ filter, conditions }: { filter: string; conditions: Conditions }) {
  if (filter === "") return null;
  const { leftOut } = conditions;
  return (
    <div class="stack stack-tight">
      <p class="muted small">
        From the filter <code>{plain(filter, 500)}</code>
      </p>
      {leftOut.length > 0 && (
        <div class="callout callout-warned" role="status">
          <p>A query cannot express these terms. They are left out:</p>
          <ul>
            {leftOut.map(({ term, why }, i) => (
              <li key={i}>
                <code>{plain(term, 200)}</code>: {plain(why, 200)}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

interface QueryAnswer {
  readonly results?: Json;
  readonly columns?: Json;
  readonly last_refresh?: string;
  readonly timezone?: string;
}

/** Changes of the form are counted after a pause, ms; those of the events at most this often. */
const pause = 300;
const refreshEvery = 2_000;

/** The result of the query, while the form and the events change. */
function usePreview(owner: number | undefined, query: JsonObject | undefined) {
  const [result, setResult] = useState<{ answer?: Answer; facts?: QueryAnswer; problem?: SimProblem }>({});
  const text = query && JSON.stringify(query);
  const turn = usePaced(revision.value, refreshEvery);
  useEffect(() => {
    if (owner === undefined || text === undefined) return setResult({});
    const gone = new AbortController();
    const timer = setTimeout(() => {
      call<QueryAnswer>("POST", "query", { project: owner, query: JSON.parse(text) }, gone.signal).then(
        (facts) => setResult({ answer: { results: facts.results ?? null, columns: facts.columns ?? null }, facts }),
        (error: unknown) => {
          if (!gone.signal.aborted) setResult({ problem: problemOf(error) });
        },
      );
    }, pause);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [owner, text, turn]);
  const { answer, facts, problem } = result;
  const now = facts?.last_refresh === undefined ? Date.now() : Date.parse(facts.last_refresh);
  return { answer, problem, setting: { now, timeZone: facts?.timezone ?? "UTC" } };
}

/** Where the insight is saved. */
function useSave(owner: number | undefined, name: string, query: JsonObject | undefined) {
  const path = owner === undefined ? null : `world/dashboards${queryString({ project: owner, limit: 1_000 })}`;
  const { data } = useResource<DashboardSummaries>(path, { revision: worldRevision.value });
  const boards = data?.dashboards ?? [];
  const [chosen, choose] = useState<string | undefined>(route.value.params.on);
  const first = boards[0];
  const dashboard = chosen ?? (first ? String(first.id) : "new");
  const onBoard = boards.find(({ id }) => String(id) === dashboard);
  const { problem, run } = useAction();
  const place = dashboard === "new" ? { new_dashboard: name } : { dashboard: numberIn(dashboard) ?? null };
  return {
    dashboard,
    choose,
    problem,
    /** Name of the dashboard for a scenario. */
    title: dashboard === "new" ? name : (onBoard?.name ?? undefined),
    dashboards: boards.map(({ id, name: title }) => [String(id), plain(title ?? "", 80) || `dashboard ${id}`] as const),
    save: () =>
      run(call<{ dashboard: number | null }>("POST", "insights", { project: owner, name, query, ...place }), (made) =>
        go(made.dashboard === null ? link("dashboards") : link("dashboards", [made.dashboard])),
      ),
  };
}
