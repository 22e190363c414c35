export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const leastMs = 100;
const clearLine = "\r\u001b[2K";

/** Shows nothing unless the screen is a terminal that can clear a line. */
export function createProgress(
  screen: Screen,
  env: Readonly<Record<string, string | undefined>>,
  now: () => number = Date.now,
) {
  const isOn = screen.isTTY === true && env.TERM !== "dumb" && !env.CI;
  let last = now();
  let isShown = false;
  return {
    /** Shows a line, unless the last one is too recent. It must be safe for a terminal. */
    show(text: string) {
      if (!isOn || now() - last < leastMs) return;
      last = now();
      isShown = true;
      screen.write(`${clearLine}${text}`);
    },
    end() {
      if (isShown) screen.write(clearLine);
      isShown = false;
    },
  };
}

export type ProgressLine = ReturnType<typeof createProgress>;

const units: readonly (readonly [number, string])[] = [
  [1024 ** 3, "GB"],
  [1024 ** 2, "MB"],
  [1024, "kB"],
];

/** `312 bytes`, `4.2 kB`, `1.3 GB`; units of 1024. */
export function sizeText(bytes: number): string {
  const unit = units.find(([size]) => bytes >= size);
  if (!unit) return `${bytes} byte${bytes === 1 ? "" : "s"}`;
  return `${(bytes / unit[0]).toFixed(1)} ${unit[1]}`;
}
