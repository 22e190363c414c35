import { own } from "../../../../src/base/json.ts";
import { numberText } from "../../../parts/text.ts";
import type { KindProps } from "../event-facts.ts";

/** Limits of the Web Vitals programme: good up to the first, poor above the second. CLS has no unit, the others ms. */
const vitals = [
  { name: "LCP", property: "$web_vitals_LCP_value", good: 2500, poor: 4000 },
  { name: "INP", property: "$web_vitals_INP_value", good: 200, poor: 500 },
  { name: "CLS", property: "$web_vitals_CLS_value", good: 0.1, poor: 0.25 },
  { name: "FCP", property: "$web_vitals_FCP_value", good: 1800, poor: 3000 },
] as const;
type Vital = (typeof vitals)[number];

const words = { good: "good", middle: "needs improvement", poor: "poor" } as const;

const bandOf = (value: number, { good, poor }: Vital): keyof typeof words =>
  value <= good ? "good" : value <= poor ? "middle" : "poor";

/** Place on three bands of equal width, in percent; values far above the limit stay at the end. */
function placeOf(value: number, { good, poor }: Vital): number {
  const place =
    value <= good ? value / good : value <= poor ? 1 + (value - good) / (poor - good) : value / poor + 1;
  return Math.max(0, Math.min(99, (place * 100) / 3));
}

function valueText(value: number, { name }: Vital): string {
  if (name === "CLS") return value.toFixed(2);
  return value >= 1000 ? `${(value / 1000).toFixed(2)} s` : `${numberText(Math.round(value))} ms`;
}

const limitText = (vital: Vital): string =>
  `${valueText(vital.good, vital)} and ${valueText(vital.poor, vital)}`;

/** The values of a `$web_vitals` event on their bands. */
export function Vitals({ event }: KindProps) {
  const found = vitals.flatMap((vital) => {
    const value = own(event.properties, vital.property);
    return typeof value === "number" && Number.isFinite(value) ? [{ vital, value }] : [];
  });
  if (found.length === 0) return <p class="muted">The event has no value that can be shown.</p>;
  return (
    <div class="stack">
      <ul class="stack vitals">
        {found.map(({ vital, value }) => {
          const band = bandOf(value, vital);
          return (
            <li key={vital.name}>
              <b>{vital.name}</b>
              <span class="number">{valueText(value, vital)}</span>
              <span class="vitals-bands" aria-hidden="true">
                <i class="vitals-good" />
                <i class="vitals-middle" />
                <i class="vitals-poor" />
                <b style={{ insetInlineStart: `${placeOf(value, vital)}%` }} />
              </span>
              <span class={`vitals-${band}`}>{words[band]}</span>
            </li>
          );
        })}
      </ul>
      <p class="small muted">
        {`Limits of good and poor: ${found.map(({ vital }) => `${vital.name} ${limitText(vital)}`).join(" · ")}`}
      </p>
    </div>
  );
}
