import type { ComponentType } from "preact";
import { StartView } from "../views/start/start.tsx";

/** A page of the inspector. */
export interface View {
  /** Stands in the address. */
  readonly id: string;
  readonly label: string;
  /** Pressed after `g`. */
  readonly key: string;
  readonly Component: ComponentType;
}

/** The views, in the order in which they are offered. */
export const views: readonly View[] = [{ id: "start", label: "Start", key: "h", Component: StartView }];
