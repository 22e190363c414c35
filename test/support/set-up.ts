import { afterAll } from "vitest";
import { closeOpened } from "./opened.ts";

afterAll(closeOpened);
