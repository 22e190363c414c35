import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, problemOf, type SimProblem } from "../../api/call.ts";
import { useResource } from "../../api/resource.ts";
import { link } from "../../app/location.ts";
import { stat } from "../../feed/socket.ts";
import { Badge, Button } from "../../parts/basics.tsx";
import { counted, dateText, plain } from "../../parts/text.ts";
import { TextInput } from "../../parts/text-input.tsx";
import type { Clock, Happened, ShownExport } from "./answers.ts";
import { dueText, happenedText } from "./words.ts";

const steps = ["1m", "1h", "1d"] as const;

interface ClockBarProps {
  exports: readonly ShownExport[];
  onChanged(problem?: SimProblem): void;
}

/** The sim's time, what becomes due next, and what moves the time. */
export function ClockBar({ exports, onChanged }: ClockBarProps) {
  const told = stat.value?.clock;
  const clock = useResource<Clock>("clock", {
    // one that runs is told as it goes on
    revision: `${told?.real}/${told?.frozen && told.now}`,
    again: 5_000,
  });
  const happened = useSignal<readonly Happened[] | undefined>(undefined);
  const by = useSignal("");
  const act = async (method: string, path: string, body: unknown) => {
    try {
      const answer = await call<{ happened?: Happened[] }>(method, path, body);
      happened.value = answer.happened;
      onChanged();
    } catch (error) {
      onChanged(problemOf(error));
    }
    clock.reload();
  };
  const advance = (step: string | number) => act("POST", "clock/advance", { by: step });
  const now = clock.data;
  return (
    <section class="exports-clock" aria-label="Clock">
      <div class="exports-now">
        {now && <Ticking clock={now} />}
        {now?.frozen && <Badge tone="note">stands still</Badge>}
        {now && !now.real && !now.frozen && <Badge tone="note">not the machine's time</Badge>}
        {now?.next_due != null && <NextDue at={now.next_due} exports={exports} />}
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
        {now?.next_due != null && (
          <Button
            onClick={() => advance(msUntil(now, now.next_due))}
            title="Moves the clock on, and performs it"
          >
            To what is due next
          </Button>
        )}
        <form
          class="exports-step"
          onSubmit={(event) => {
            event.preventDefault();
            void advance(by.value);
          }}
        >
          <TextInput
            aria-label="Advance by"
            placeholder="2h30m"
            value={by.value}
            onText={(text) => {
              by.value = text;
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

const msUntil = ({ now }: Clock, at: string | null): number =>
  at === null ? 0 : Math.max(0, Date.parse(at) - Date.parse(now));

function NextDue({ at, exports }: { at: string; exports: readonly ShownExport[] }) {
  const whose = dueText(exports, at);
  return (
    <span class="muted">
      next due {dateText(Date.parse(at))}
      {whose !== "" && `: ${whose}`}
    </span>
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
          <li key={`${it.at}${it.kind}${it.batch_export}${it.run}`}>
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
