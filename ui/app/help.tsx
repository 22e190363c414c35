import { Dialog } from "../parts/dialog.tsx";
import { keySets } from "./keys.ts";
import { shownKeys } from "./presses.ts";

/** How a key is called on the sheet. */
const names: Readonly<Record<string, string>> = {
  " ": "Space",
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
};

/** All keys that can be pressed now. */
export function Help({ onClose }: { onClose: () => void }) {
  const closeAgain = (event: KeyboardEvent) => {
    if (event.key === "?") onClose();
  };
  return (
    <Dialog title="Keys" onClose={onClose} onKeyDown={closeAgain}>
      <div class="help-keys">
        {shownKeys(keySets.value)
          .reverse()
          .map(({ title, keys }) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {keys.map(({ keys: pressed, does }) => (
                  <div key={pressed}>
                    <dt>{does}</dt>
                    <dd>
                      {(pressed === " " ? [" "] : pressed.split(" ")).map((key) => (
                        <kbd key={key}>{names[key] ?? key}</kbd>
                      ))}
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
      </div>
    </Dialog>
  );
}
