import { useSignal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { z } from "zod";
import type { ClockAdvanced, ClockFacts } from "../../../src/lab/clock/shapes.ts";
import type { Export } from "../../../src/service/batch-exports/shapes.ts";
import { call } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import type { Action } from "../../app/use-action.ts";
import { stat } from "../../feed/socket.ts";
import { Badge, Button } from "../../parts/basics.tsx";
import { TextInput } from "../../parts/fields.tsx";
import { counted, dateText, plain } from "../../parts/text.ts";
import { dueText, happenedText } from "./run-texts.ts";

/** An effect of moving the clock. */
type Happened = z.infer<typeof ClockAdvanced>["happened"][number];

const steps = ["1m", "1h", "1d"] as const;

interface ClockBarProps {
  exports: readonly Export[];
  /** Waits for a change of the sim, shows its problem and reloads. */
  act: Action["run"];
}

/** The sim's time, the next due run, and controls of the clock. */
export function ClockBar({ exports, act }: ClockBarProps) {
  const reported = stat.value?.clock;
  const clock = useResource<ClockFacts>("clock", {
    // a running clock reports continuously
    revision: `${reported?.real}/${reported?.frozen && reported.now}`,
    again: 5_000,
  });
  const [happened, setHappened] = useState<readonly Happened[]>();
  const [by, setBy] = useState("");
  const change = async (method: string, path: string, body: unknown) => {
    await act(call<{ happened?: Happened[] }>(method, path, body), (it) => setHappened(it.happened));
    clock.reload();
  };
  const advance = (step: string | number) => change("POST", "clock/advance", { by: step });
  const now = clock.data;
  return (
    <section class="stack exports-clock" aria-label="Clock">
      <div class="row">
        {now && <Ticking clock={now} />}
        {now?.frozen && <Badge tone="note">frozen</Badge>}
        {now && !now.real && !now.frozen && <Badge tone="note">not real time</Badge>}
        {now?.next_due != null && <NextDue at={now.next_due} exports={exports} />}
      </div>
      <div class="row">
        <Button onClick={() => change("PUT", "clock", { frozen: !now?.frozen })}>
          {now?.frozen ? "Resume" : "Freeze"}
        </Button>
        {steps.map((step) => (
          <Button key={step} onClick={() => advance(step)}>
            +{step}
          </Button>
        ))}
        {now?.next_due != null && (
          <Button onClick={() => advance(msUntil(now, now.next_due))} title="Advances the clock and runs what is due">
            To the next due run
          </Button>
        )}
        <form
          class="row exports-step"
          onSubmit={(event) => {
            event.preventDefault();
            void advance(by);
          }}
        >
          <TextInput aria-label="Advance by" placeholder="2h30m" value={by} onText={(text) => setBy(text)} />
          <Button type="submit" disabled={by.trim() === ""}>
            Advance
          </Button>
        </form>
        <Button
          onClick={() => change("POST", "exports/tick", {})}
          title="Runs what is due now; the clock does not change"
        >
          Run what is due
        </Button>
        {now && !now.real && (
          <Button kind="quiet" onClick={() => change("PUT", "clock", { now: "real" })}>
            Back to real time
          </Button>
        )}
      </div>
      {happened && <ClockEffects happened={happened} />}
    </section>
  );
}

const msUntil = ({ now }: ClockFacts, at: string | null): number =>
  at === null ? 0 : Math.max(0, Date.parse(at) - Date.parse(now));

function NextDue({ at, exports }: { at: string; exports: readonly Export[] }) {
  const names = dueText(exports, at);
  return (
    <span class="muted">
      next due {dateText(Date.parse(at))}
      {names !== "" && `: ${names}`}
    </span>
  );
}

function Ticking({ clock }: { clock: ClockFacts }) {
  const shown = useSignal(Date.parse(clock.now));
  useEffect(() => {
    const [from, since] = [Date.parse(clock.now), performance.now()];
    shown.value = from;
    if (clock.frozen) return;
    const timer = setInterval(() => {
      shown.value = from + performance.now() - since;
    }, 250);
    return () => clearInterval(timer);
  }, [clock.now, clock.frozen, shown]);
  return <time class="exports-time">{dateText(shown.value)}</time>;
}

function ClockEffects({ happened }: { happened: readonly Happened[] }) {
  return (
    <div class="exports-happened" role="status">
      <strong>{happened.length === 0 ? "Nothing was due" : counted(happened.length, "change")}</strong>
      <ol>
        {happened.slice(0, 50).map((it) => (
          <li key={`${it.at}${it.kind}${it.batch_export}${it.run}`}>
            <time>{dateText(Date.parse(it.at))}</time> {happenedText(it.kind)}
            {typeof it.run === "string" && (
              <>
                {" "}
                <a href={link("exports", ["runs", it.run])}>{plain(it.run.slice(0, 8))}</a>
              </>
            )}
          </li>
        ))}
      </ol>
      {happened.length > 50 && <p class="muted">and {happened.length - 50} more</p>}
    </div>
  );
}
