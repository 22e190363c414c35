import type { RequestRow } from "../../../src/state/journal/feed/feed-row.ts";
import { go, project, withParams } from "../../app/location.ts";
import { figureText, useTotals } from "../../app/sim.ts";
import type { LiveRows } from "../../feed/live-rows.ts";
import { Button } from "../../parts/basics.tsx";
import { FilterBox } from "../../parts/filter-box/filter-box.tsx";
import { hasTerm, toggled } from "../../parts/filter-box/filter-text.ts";
import { numberText } from "../../parts/text.ts";
import { chips, reasonsIn, routeIn, routes, withRoute } from "./list-filter.ts";

interface ToolbarProps {
  filter: string;
  rows: LiveRows<RequestRow> | undefined;
  onHar(): void;
}

const filterBy = (filter: string): void => go(withParams({ f: filter }), true);

/** Filter, pause, download and one-click filters. */
export function Toolbar({ filter, rows, onHar }: ToolbarProps) {
  void rows?.version.value;
  return (
    <>
      <div class="row toolbar">
        <FilterBox
          kind="requests"
          label="Filter requests"
          placeholder="Filter, e.g. status:>=400 route:/flags"
          value={filter}
          onApply={filterBy}
          known={() => ({ events: [], distinctIds: [], properties: [], reasons: rows ? reasonsIn(rows) : [] })}
          problems={rows?.filterProblems.value}
        />
        {rows && <Pause rows={rows} />}
        <Button onClick={onHar}>HAR…</Button>
      </div>
      <div class="row row-wide requests-strip">
        {rows && <Count rows={rows} filter={filter} />}
        <Chips filter={filter} />
      </div>
    </>
  );
}

/** Number of matching requests, including those that are not loaded. */
function Count({ rows, filter }: { rows: LiveRows<RequestRow>; filter: string }) {
  const totals = useTotals({ project: project.value, requests: filter })?.requests;
  const held = rows.count();
  const count = Math.max(held, totals?.total ?? 0);
  const isExact = totals?.complete ?? !rows.hasOlder.value;
  return (
    <span class="muted requests-count">{`${figureText(count, isExact)} ${count === 1 ? "request" : "requests"}`}</span>
  );
}

function Pause({ rows }: { rows: LiveRows<RequestRow> }) {
  const isPaused = rows.isPaused.value;
  return (
    <Button onClick={isPaused ? rows.resume : rows.pause} isPressed={isPaused} title="Pause or resume (p)">
      {isPaused ? `Paused, ${numberText(rows.unread.value)} new` : "Pause"}
    </Button>
  );
}

function Chips({ filter }: { filter: string }) {
  return (
    <fieldset class="row row-tight requests-chips">
      <legend class="unseen">Quick filters</legend>
      {chips.map(({ text, term, note }) => (
        <Button
          key={term}
          kind="quiet"
          title={`${note}: ${term}`}
          isPressed={hasTerm(filter, term)}
          onClick={() => filterBy(toggled(filter, term))}
        >
          {text}
        </Button>
      ))}
      <select
        class="select"
        aria-label="Route"
        value={routeIn(filter)}
        onChange={(event) => filterBy(withRoute(filter, event.currentTarget.value))}
      >
        <option value="">Any route</option>
        {routes.map(({ text, term }) => (
          <option key={term} value={term}>
            {text}
          </option>
        ))}
      </select>
    </fieldset>
  );
}
