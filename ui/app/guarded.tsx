import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { Button, Empty } from "../parts/basics.tsx";

/** A view that breaks does not take the page with it. */
export function Guarded({ children }: { children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary((thrown: unknown) => console.error(thrown));
  if (error === undefined || error === null) return <>{children}</>;
  return (
    <Empty title="This view broke">
      <p>
        That is a bug of phx-sim. What the sim holds is untouched. It said: <code>{String(error)}</code>
      </p>
      <p>
        <Button kind="main" onClick={reset}>
          Try again
        </Button>
      </p>
    </Empty>
  );
}
