import { eventKind } from "../../../src/state/journal/event-kinds.ts";
import { useLast } from "../../api/resource.ts";
import { project } from "../../app/location.ts";
import { useTotals } from "../../app/sim.ts";
import { CheckField } from "../../parts/fields.tsx";
import { hasTerm, toggled, withoutTerm } from "../../parts/filter-box/filter-text.ts";
import { numberText } from "../../parts/text.ts";

const ownTerm = "is:own";

interface SwitchProps {
  filter: string;
  onFilter(text: string): void;
}

/** Hides the events that SDKs send by themselves; shows how many there are. */
export function SdkSwitch({ filter, onFilter }: SwitchProps) {
  const rest = withoutTerm(filter, ownTerm);
  const totals = useLast(useTotals({ project: project.value, events: rest })?.events);
  const count = (totals?.names ?? [])
    .filter((it) => eventKind(it.event) !== "own")
    .reduce((sum, it) => sum + it.count, 0);
  const isExact = totals?.complete === true && totals.more_names === 0;
  return (
    <CheckField
      title="Show only events that the app sends by name (is:own)"
      isChecked={hasTerm(filter, ownTerm)}
      onChange={() => onFilter(toggled(filter, ownTerm, ["is:sdk"]))}
      label={
        <>
          Hide SDK events
          {totals && <span class="faint">{` ${numberText(count)}${isExact ? "" : "+"}`}</span>}
        </>
      }
    />
  );
}
