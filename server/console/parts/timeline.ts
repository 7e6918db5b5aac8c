import {
  type ExplainedEventJson,
  type ExplanationJson,
  leftOutText,
} from "../../../resources/views/explanation_view.ts";
import { counted } from "../../../resources/views/text.ts";
import {
  describeHappening,
  happenedAt,
  heardBy,
} from "../../../resources/wording/timeline.ts";
import { type FactRow, facts, type Markup, markup } from "../markup/markup.ts";
import { outsideText, sentence } from "../markup/outside.ts";
import { moment, when } from "../markup/times.ts";
import { bodyPath } from "../../../resources/views/page_paths.ts";

/** The latest events that are shown; the command shows all. */
const SHOWN = 200;

/** What happened to an order, in words, the oldest first. */
export function timeline(
  explained: Pick<ExplanationJson, "events" | "leftOut"> | null,
  nowMs: number,
): Markup {
  const { events, leftOut } = explained ?? { events: [], leftOut: 0 };
  if (events.length === 0) return markup`<p>No event names it.</p>`;
  const left = Math.max(0, events.length - SHOWN);
  return markup`${
    left > 0 && excluded(left, events.length)
  }<ol class="timeline">${
    events.slice(left).map((event) => item(event, nowMs))
  }</ol>${
    leftOut > 0 && markup`<p class="notice">${leftOutText(leftOut)}</p>`
  }`;
}

function excluded(left: number, all: number): Markup {
  return markup`<p class="notice">The first ${left} of ${all} events are left out;
<code>rampkit orders explain</code> shows them.</p>`;
}

function item(event: ExplainedEventJson, nowMs: number): Markup {
  const { content, effect, why, recordedAt } = event;
  const happened = happenedAt(content);
  return markup`<li class="${effect}">
<p class="said-what">${sentence(describeHappening(content))}</p>
<p class="soft">${happened !== null && markup`Happened ${moment(happened)}. `}
Heard ${when(recordedAt, nowMs)}
<span class="tag">${heardBy(content)}</span></p>
<p>${step(event)} <span class="soft">${sentence(why.message)}.</span></p>
${fields(event)}</li>`;
}

/** What the event did to the state, in a few words. */
function step({ effect, move }: ExplainedEventJson): string {
  if (effect !== "changed") return "It changes nothing.";
  return move === null
    ? "It adds to what is known."
    : `State: ${sentence(move.message.replaceAll("->", "\u2192"))}.`;
}

/** The fields that an event changed, and its bytes, folded away. */
function fields(
  { changes, kind, eventId, position }: ExplainedEventJson,
): Markup {
  const body = kind === "webhook" &&
    markup`<p><a href="${bodyPath(eventId)}">Its body as it came</a></p>`;
  if (changes.length === 0) return markup`${body}`;
  const rows = changes.map(({ field, before, after }): FactRow => [
    outsideText(field, 80),
    markup`${value(before)} <span aria-label="becomes">→</span> ${
      value(after)
    }`,
  ]);
  return markup`<details><summary>${
    counted(changes.length, "field")
  } (event ${position})</summary>${facts(rows)}${body}</details>`;
}

function value(text: string | null): Markup {
  return markup`<bdi>${outsideText(text ?? "none", 200)}</bdi>`;
}
