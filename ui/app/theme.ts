import { effect, signal } from "@preact/signals";

const themes = ["system", "dark", "light"] as const;
export type Theme = (typeof themes)[number];

const name = "phx-sim-theme";

const kept = (): Theme => themes.find((it) => it === localStorage.getItem(name)) ?? "system";

/** The colours: the system's, unless somebody has chosen. */
export const theme = signal<Theme>(kept());

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(name, theme.value);
});

export const nextTheme = (): void => {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system";
};
