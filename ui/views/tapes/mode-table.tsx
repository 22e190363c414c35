import { Badge, Button, CopyButton, Section } from "../../parts/basics.tsx";
import { type ModeName, modeNames, modes } from "./modes.ts";

interface ModeTableProps {
  now: ModeName;
  /** One at a time: another one cannot start. */
  isRecording: boolean;
  /** Switches here; which way depends on the mode. */
  onSwitch(mode: ModeName): void;
}

/** Every mode: who answers, and how one gets there. */
export function ModeTable({ now, isRecording, onSwitch }: ModeTableProps) {
  const canSwitch = (name: ModeName): boolean => {
    const { here } = modes[name];
    return here !== undefined && !(here === "record" && isRecording);
  };
  return (
    <Section title="Who answers">
      <ul class="tapes-modes">
        {modeNames.map((name) => (
          <li key={name} class={name === now ? "tapes-now" : ""}>
            <span class="tapes-mode">{name === now ? <Badge tone="accent">{name}</Badge> : name}</span>
            <span class="tapes-means">{modes[name].means}</span>
            <code class="tapes-command">{modes[name].command}</code>
            <span class="tapes-switch">
              <CopyButton text={modes[name].command} kind="quiet" />
              {name !== now && canSwitch(name) && (
                <Button onClick={() => onSwitch(name)} aria-label={`Switch to ${name}`}>
                  Switch
                </Button>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
