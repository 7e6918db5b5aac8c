import { BAD_DAY } from "../faults/faults.ts";

/** The switches of the control page's faults. */
export const CONTROL_FAULTS = `
const BAD_DAY = ${JSON.stringify(BAD_DAY)};
const GROUPS = {
  "Webhooks": {
    drop: "Never sent", duplicate: "Sent twice", delay: "Late, up to 10 min",
    reorder: "Overtaken by the next", forge: "A forged one beside",
    unknownType: "Unknown type beside", malformed: "Body cut short",
    answerLost: "Our 2xx gets lost", requestLost: "Request gets lost", endpointDown: "Endpoint down",
  },
  "API": {
    apiTooManyRequests: "Answer 429", apiServerError: "Answer 500, 502, 503",
    apiTimeout: "No answer for 2 min", apiSlowBody: "Body trickles in",
    pageInsert: "Row inserted in a walk", pageChange: "Row changed in a walk",
    pageShort: "Page cut short", sameSecond: "Same created_at",
    totalWrong: "Total is wrong", totalMissing: "Total is missing",
    oddRow: "A field of the wrong kind", rowWithoutId: "Row without an id", timeAhead: "Time in the far future",
    refusedId: "Search by an id refused", wrongDate: "Date header is wrong", endlessCursor: "Cursor repeats its page",
    clockSkewMs: "Clock 10 min ahead",
  },
};
const percent = (rate) => rate > 0 ? Math.round(rate * 100) + " %" : "off";
function sayRate(label, rate) {
  label.querySelector("input").setAttribute("aria-valuetext", percent(rate));
  label.querySelector("output").textContent = percent(rate);
}
function addFault(box, name, title, value) {
  const isSkew = name === "clockSkewMs";
  const isRate = typeof value === "number" && !isSkew;
  const input = make("input", isRate ? { type: "range", min: 0, max: 1, step: 0.01 } : { type: "checkbox" });
  const read = () => isRate ? Number(input.value) : isSkew ? (input.checked ? 600000 : 0) : input.checked;
  const label = make("label", { className: "fault" }, make("span", {}, title), input, ...(isRate ? [make("output")] : []));
  label.dataset.name = name;
  input.onchange = () => then("PATCH", "/faults", { [name]: read() });
  if (isRate) input.oninput = () => sayRate(label, input.value);
  box.append(label);
}
function showFaults({ faults }) {
  const box = at("faults");
  if (!box.hasChildNodes()) {
    for (const [group, titles] of Object.entries(GROUPS)) {
      const set = make("fieldset", {}, make("legend", {}, group));
      for (const [name, title] of Object.entries(titles)) addFault(set, name, title, faults[name]);
      box.append(set);
    }
  }
  for (const label of box.querySelectorAll(".fault")) {
    const value = faults[label.dataset.name];
    const input = label.querySelector("input");
    label.classList.toggle("on", Boolean(value));
    // Do not move a control that a person is moving.
    if (input.matches(":active")) continue;
    if (input.type === "checkbox") input.checked = Boolean(value);
    else {
      input.value = value;
      sayRate(label, value);
    }
  }
}
`;
