import { render } from "preact";
import { listenToKeys } from "./app/keys.ts";
import { Shell } from "./app/shell.tsx";
import { fetchTheRest } from "./app/views.ts";
import { connect, restWhenUnseen } from "./feed/socket.ts";

const page = document.getElementById("page");
if (page) {
  connect();
  restWhenUnseen();
  listenToKeys();
  render(<Shell />, page);
  fetchTheRest();
}
