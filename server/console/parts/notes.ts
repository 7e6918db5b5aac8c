import { isAcknowledged, type Note } from "../../../ledger/for_server.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup } from "../markup/markup.ts";
import { outsideText } from "../markup/outside.ts";
import { agoText, moment } from "../markup/times.ts";

/** Longest text of a note, in characters. */
export const LONGEST_NOTE = 2000;

/** What notes are about. */
export interface Noted {
  readonly entity: Note["entity"];
  readonly entityId: string;
  /** Why it waits. */
  readonly reasons: readonly string[];
  /** The page to go back to. */
  readonly back: string;
}

const ACTIONS: Readonly<Record<Note["action"], string>> = {
  note: "noted",
  acknowledge: "acknowledged it",
  reopen: "opened it again",
};

/** What was noted, the oldest first, and the form that adds to it. */
export function notesPart(
  context: PageContext,
  noted: Noted,
  notes: readonly Note[],
): Markup {
  const { supports, formToken, nowMs } = context;
  const list = notes.length > 0 &&
    markup`<ul class="notes">${notes.map((note) => told(note, nowMs))}</ul>`;
  if (!supports) return markup`${list}`;
  const { entity, entityId, reasons, back } = noted;
  const deal = isAcknowledged(reasons, notes)
    ? markup`<button name="action" value="reopen">Open again</button>`
    : markup`<button name="action" value="acknowledge" class="primary">Acknowledge</button>`;
  return markup`${list}<details><summary>Note or acknowledge</summary>
<form class="note-form" action="/notes" method="post">
${
    hidden({
      form: formToken,
      entity,
      id: entityId,
      reasons: reasons.join(" "),
      back,
    })
  }
<label>Note <textarea name="text" rows="2" maxlength="${LONGEST_NOTE}"></textarea></label>
<div class="row"><button name="action" value="note">Note</button> ${
    reasons.length > 0 && deal
  }</div>
</form></details>`;
}

function told(
  { author, action, text, notedAt }: Note,
  nowMs: number,
): Markup {
  return markup`<li><strong>${outsideText(author, 64)}</strong> ${
    ACTIONS[action]
  } <span class="soft">${moment(notedAt)} (${agoText(notedAt, nowMs)})</span>${
    text !== "" && markup`<br><bdi>${outsideText(text, LONGEST_NOTE)}</bdi>`
  }</li>`;
}

/** Fields that a form sends back as they are. */
export function hidden(fields: Readonly<Record<string, string>>): Markup[] {
  return Object.entries(fields).map(([name, value]) =>
    markup`<input type="hidden" name="${name}" value="${value}">`
  );
}
