import "./styles/app.css";
import { render } from "preact";
import { listenToKeys } from "./app/keys.ts";
import { Shell } from "./app/shell.tsx";
import { connect } from "./feed/socket.ts";

const page = document.getElementById("page");
if (page) {
  connect();
  listenToKeys();
  render(<Shell />, page);
}
