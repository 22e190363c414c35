import { render } from "preact";
import { listenToKeys } from "./app/keyboard.ts";
import { Shell } from "./app/shell.tsx";
import { fetchTheRest } from "./app/views.ts";
import { connect, disconnectWhenHidden } from "./feed/socket.ts";

const page = document.getElementById("page");
if (page) {
  connect();
  disconnectWhenHidden();
  listenToKeys();
  render(<Shell />, page);
  fetchTheRest();
}
