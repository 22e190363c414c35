import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, SimProblem } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { stat } from "../../feed/socket.ts";
import { Badge, Button } from "../../parts/basics.tsx";
import { counted, dateText, plain } from "../../parts/text.ts";
import type { Clock, Happened } from "./answers.ts";
import { happenedText } from "./words.ts";

const steps = ["1m", "1h", "1d"] as const;

/** The sim's time, and what moves it. */
export function ClockBar({ onChanged }: { onChanged: (problem?: SimProblem) => void }) {
  const told = stat.value?.clock;
  const clock = useResource<Clock>("clock", { revision: `${told?.frozen}/${told?.real}`, every: 5_000 });
  const happened = useSignal<readonly Happened[] | undefined>(undefined);
  const by = useSignal("");
  const act = async (method: string, path: string, body: unknown) => {
    try {
      const answer = await call<{ happened?: Happened[] }>(method, path, body);
      happened.value = answer.happened;
      onChanged();
    } catch (error) {
      if (error instanceof SimProblem) onChanged(error);
    }
    clock.reload();
  };
  const advance = (step: string) => act("POST", "clock/advance", { by: step });
  const now = clock.data;
  return (
    <section class="exports-clock" aria-label="Clock">
      <div class="exports-now">
        {now && <Ticking clock={now} />}
        {now?.frozen && <Badge tone="note">stands still</Badge>}
        {now && !now.real && !now.frozen && <Badge tone="note">not the machine's time</Badge>}
        {now?.next_due != null && <span class="muted">next due {dateText(Date.parse(now.next_due))}</span>}
      </div>
      <div class="exports-controls">
        <Button onClick={() => act("PUT", "clock", { frozen: !now?.frozen })}>
          {now?.frozen ? "Run on" : "Freeze"}
        </Button>
        {steps.map((step) => (
          <Button key={step} onClick={() => advance(step)}>
            +{step}
          </Button>
        ))}
        <form
          class="exports-step"
          onSubmit={(event) => {
            event.preventDefault();
            void advance(by.value);
          }}
        >
          <input
            class="input"
            aria-label="Advance by"
            placeholder="2h30m"
            value={by.value}
            onInput={(event) => {
              by.value = event.currentTarget.value;
            }}
          />
          <Button type="submit" disabled={by.value.trim() === ""}>
            Advance
          </Button>
        </form>
        <Button
          onClick={() => act("POST", "exports/tick", {})}
          title="Performs what is due now; the clock stays"
        >
          Perform what is due
        </Button>
        {now && !now.real && (
          <Button kind="quiet" onClick={() => act("PUT", "clock", { now: "real" })}>
            Back to the machine's time
          </Button>
        )}
      </div>
      {happened.value && <CameAbout happened={happened.value} />}
    </section>
  );
}

/** Shows the time as it goes on; the sim says where it was. */
function Ticking({ clock }: { clock: Clock }) {
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

function CameAbout({ happened }: { happened: readonly Happened[] }) {
  return (
    <div class="exports-happened" role="status">
      <strong>
        {happened.length === 0 ? "Nothing became due" : `${counted(happened.length, "thing")} came about`}
      </strong>
      <ol>
        {happened.slice(0, 50).map((it) => (
          <li key={`${it.at}${it.kind}${it.run}`}>
            <time>{dateText(Date.parse(it.at))}</time> {happenedText(it.kind)}
            {it.run != null && (
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
