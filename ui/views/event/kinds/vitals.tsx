import { vitalsIn, vitalText, type WebVital } from "../../../../src/state/journal/event-texts.ts";
import type { KindProps } from "../event-facts.ts";
import { Named } from "../event-parts.tsx";
import { bandOf, largestIn, placeOf } from "./vital-bands.ts";

const words = { good: "good", middle: "needs improvement", poor: "poor" } as const;

const limitText = (vital: WebVital): string =>
  `${vital.name} ${vitalText(vital.good, vital)} and ${vitalText(vital.poor, vital)}`;

/** The values of a `$web_vitals` event on their bands. */
export function Vitals({ event }: KindProps) {
  const found = vitalsIn(event.properties);
  const largest = largestIn(event.properties);
  if (found.length === 0) return <p class="muted">The event has no value that can be shown.</p>;
  return (
    <div class="stack">
      <ul class="stack vitals">
        {found.map(({ vital, value }) => {
          const band = bandOf(value, vital);
          return (
            <li key={vital.name}>
              <b>{vital.name}</b>
              <b class="number">{vitalText(value, vital)}</b>
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
        {`Limits of good and poor: ${found.map(({ vital }) => limitText(vital)).join(" · ")}.`}
        {largest !== undefined && (
          <>
            {" Largest element: "}
            <code>
              <Named text={largest} otherwise="" />
            </code>
          </>
        )}
      </p>
    </div>
  );
}
