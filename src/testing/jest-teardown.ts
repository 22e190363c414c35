import { held } from "./jest-global.ts";

/** As `globalTeardown`: closes the sim that `phx-sim/jest/global` started. */
export default async function teardown(): Promise<void> {
  const { current } = held;
  if (!current) return;
  held.current = undefined;
  await current.close();
}
