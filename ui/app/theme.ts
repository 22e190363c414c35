import { effect, signal } from "@preact/signals";
import { keep, kept } from "../parts/browser-storage.ts";

const themes = ["system", "dark", "light"] as const;
type Theme = (typeof themes)[number];

const name = "phx-sim-theme";

/** The chosen colours (default: the system's). */
export const theme = signal<Theme>(themes.find((it) => it === kept(name)) ?? "system");

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  keep(name, theme.value);
});

export const nextTheme = (): void => {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system";
};
