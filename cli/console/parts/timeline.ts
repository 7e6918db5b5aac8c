import type { ExplainedEventJson } from "../../views/explanation_view.ts";
import {
  describeHappening,
  happenedAt,
  heardBy,
} from "../../wording/timeline.ts";
import { html, type Markup, NOTHING } from "../markup/html.ts";
import { outsideText, sentence } from "../markup/outside.ts";
import { agoText, moment } from "../markup/times.ts";

/** The latest events that are shown; the command shows all. */
const SHOWN = 200;

/** What happened to an order, in words, the oldest first. */
export function timeline(
  events: readonly ExplainedEventJson[],
  nowMs: number,
): Markup {
  if (events.length === 0) return html`<p>No event names it.</p>`;
  const left = Math.max(0, events.length - SHOWN);
  return html`${
    left > 0 &&
    html`
      <p
        class="notice">The first ${left} of ${events
          .length} events are left out; <code>rampkit orders explain</code> shows them.</p>
    `
  }<ol class="timeline">${
    events.slice(left).map((event) => item(event, nowMs))
  }</ol>`;
}

function item(event: ExplainedEventJson, nowMs: number): Markup {
  const { says, outcome, why, recordedAt } = event;
  const happened = happenedAt(says);
  return html`<li class="${outcome}">
<p class="said-what">${sentence(describeHappening(says))}</p>
<p class="soft">${
    happened !== null && html`
      Happened ${moment(happened)}.
    `
  }Heard ${moment(recordedAt)} (${
    agoText(recordedAt, nowMs)
  }) <span class="tag">${heardBy(says)}</span></p>
<p>${step(event)} <span class="soft">${sentence(why.message)}</span></p>
${fields(event)}</li>`;
}

/** What the event did to the state, in a few words. */
function step({ outcome, move }: ExplainedEventJson): string {
  if (outcome !== "changed") return "It changes nothing.";
  return move === null
    ? "It adds to what is known."
    : `State: ${sentence(move.message.replaceAll("->", "\u2192"))}.`;
}

/** The fields that an event changed, and its bytes, folded away. */
function fields(
  { changes, kind, eventId, position }: ExplainedEventJson,
): Markup {
  const body = kind === "webhook" &&
    html`<a href="/deliveries/${
      encodeURIComponent(eventId)
    }">Its body as it came</a>`;
  if (changes.length === 0) {
    return body === false ? NOTHING : html`<p>${body}</p>`;
  }
  return html`<details><summary>${changes.length} ${
    changes.length === 1 ? "field" : "fields"
  } (event ${position})</summary><dl class="facts">${
    changes.map(({ field, before, after }) =>
      html`
        <div>
          <dt>${outsideText(field, 80)}</dt>
          <dd><bdi>${outsideText(
            before ?? "none",
            200,
          )}</bdi> <span aria-label="becomes">→</span> <bdi>${outsideText(
            after ?? "none",
            200,
          )}</bdi></dd>
        </div>
      `
    )
  }</dl>${body !== false && html`<p>${body}</p>`}</details>`;
}
