import { render } from "preact";
import { SharedPage, type SharedPageData } from "./page.tsx";

const page = document.getElementById("page");
const text = document.getElementById("data")?.textContent;
if (page && text) {
  const data: SharedPageData = JSON.parse(text);
  render(<SharedPage given={data} />, page);
}
