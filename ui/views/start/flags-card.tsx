import type { FlagTotals } from "../../../src/service/flags/decision-shapes.ts";
import type { FlagSummary } from "../../../src/service/flags/shapes.ts";
import { query } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link, project } from "../../app/location.ts";
import { info, useCounted, worldRevision } from "../../app/sim.ts";
import { Icon } from "../../parts/icon.tsx";
import { OutcomeSign } from "../../parts/outcome.tsx";
import { counted, numberText, plain } from "../../parts/text.ts";
import { Card } from "./card.tsx";
import { type FlagToLook, flagsToLook } from "./flags-to-look.ts";

/** Flags that may not work as expected; nothing while all do. */
export function FlagsCard() {
  const of = query({ project: project.value });
  const { data } = useResource<{ flags: FlagSummary[] }>(`flags${of}`, { revision: worldRevision.value });
  const { data: totals } = useCounted<FlagTotals>(`flag-decisions/totals${of}`, (it) => it.counting);
  if (!data || !totals) return null;
  const warnings = info.value?.scenario_warnings ?? [];
  const { list, more, others } = flagsToLook({ flags: data.flags, totals: totals.flags, warnings });
  if (list.length === 0) return null;
  return (
    <Card title="Flags that need a look" actions={<a href={link("flags")}>All flags</a>}>
      <ul class="stack small">
        {list.map((it, i) => (
          <Row key={`${i} ${it.key}`} flag={it} />
        ))}
        {more > 0 && <li class="muted">and {numberText(more)} more</li>}
        {others > 0 && (
          <li class="start-flag muted">
            <Icon of="tick" /> <span>{counted(others, "other flag")} without a finding</span>
          </li>
        )}
      </ul>
    </Card>
  );
}

const Row = ({ flag: { key, isDefined, text, meant, asked } }: { flag: FlagToLook }) => (
  <li class="start-flag">
    <OutcomeSign of="warned" />
    <span>
      {key !== undefined && (
        <a href={link("flags", [key], isDefined ? {} : { tab: "overrides" })}>
          <b>{plain(key, 80)}</b>
        </a>
      )}{" "}
      {plain(text, 300)}
      {meant !== undefined && (
        <>
          : did you mean <code>{plain(meant, 80)}</code>?
        </>
      )}
    </span>
    {asked !== undefined && <span class="muted start-asked">{numberText(asked)} asked</span>}
  </li>
);
