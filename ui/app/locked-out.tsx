import { useSignal } from "@preact/signals";
import { unlock } from "../api/call.ts";
import { Button, Empty, Field } from "../parts/basics.tsx";

/** The sim is open to the network, and this page has no token or a wrong one. */
export function LockedOut() {
  const given = useSignal("");
  const isWrong = useSignal(false);
  const open = (event: Event) => {
    event.preventDefault();
    isWrong.value = !unlock(given.value);
  };
  return (
    <main>
      <h1 class="unseen">phx-sim</h1>
      <Empty title="This sim needs its token">
        <p>
          It is open to the network. Paste the token that it was started with (<code>--token</code> or{" "}
          <code>PHX_SIM_TOKEN</code>). If it was started without one, use the inspector link that{" "}
          <code>phx-sim start</code> prints: it ends in a generated token, after <code>#t=</code>.
        </p>
        <form class="locked-out" onSubmit={open}>
          <Field
            label="Inspector link or token"
            hint={isWrong.value ? "There is no token in it." : undefined}
          >
            <input
              class="input mono"
              autocomplete="off"
              spellcheck={false}
              value={given.value}
              aria-invalid={isWrong.value}
              onInput={(event) => {
                given.value = event.currentTarget.value;
              }}
            />
          </Field>
          <Button type="submit" kind="main">
            Open
          </Button>
        </form>
      </Empty>
    </main>
  );
}
