import { render } from "preact";
import type { ReportData } from "../../src/testing/run-report/report-data.ts";
import { plain } from "../parts/text.ts";
import { Report } from "./page.tsx";

const page = document.getElementById("page");
const text = document.getElementById("data")?.textContent;
if (page && text) {
  const data: ReportData = JSON.parse(text);
  document.title = `${data.verdict.verdict}: ${plain(data.verdict.title, 100)} · phx-sim`;
  render(<Report data={data} />, page);
}
