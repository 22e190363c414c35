import { Dialog } from "../parts/dialog.tsx";
import { keySets } from "./keys.ts";

/** All keys that can be pressed now. */
export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="help-keys">
        {keySets.value.map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            {keys.map(({ keys: pressed, does }) => (
              <div key={pressed}>
                <span>{does}</span>
                <span>
                  {pressed.split(" ").map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </span>
              </div>
            ))}
          </section>
        ))}
      </div>
    </Dialog>
  );
}
