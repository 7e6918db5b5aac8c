import { isAcknowledged, type Note } from "../../../ledger/for_server.ts";
import { LONGEST_NOTE } from "../../../ledger/for_resources.ts";
import { TAKE_NOTE } from "../../../resources/operations/note_operation.ts";
import { mayDo } from "../access/access.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup } from "../markup/markup.ts";
import { outsideText } from "../markup/outside.ts";
import { agoText, moment } from "../markup/times.ts";
import { formField, operationForm } from "./operation_form.ts";

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
  const { nowMs } = context;
  const list = notes.length > 0 &&
    markup`<ul class="notes">${
      notes.map((note) => noteItem(note, nowMs))
    }</ul>`;
  const { entity, entityId, reasons, back } = noted;
  const deal = isAcknowledged(reasons, notes)
    ? markup`<button name="action" value="reopen">Open again</button>`
    : markup`<button name="action" value="acknowledge" class="primary">Acknowledge</button>`;
  if (!mayDo(context, TAKE_NOTE)) return markup`${list}`;
  const form = operationForm(
    context,
    {
      operation: TAKE_NOTE,
      given: { entity, id: entityId, reasons: reasons.join(" ") },
      back,
      style: "note-form",
    },
    markup`${formField(TAKE_NOTE, "text", { label: "Note", rows: 2 })}
<div class="row"><button name="action" value="note">Note</button> ${
      reasons.length > 0 && deal
    }</div>`,
  );
  return markup`${list}<details><summary>Note or acknowledge</summary>
${form}</details>`;
}

function noteItem(
  { author, action, text, notedAt }: Note,
  nowMs: number,
): Markup {
  return markup`<li><strong>${outsideText(author, 64)}</strong> ${
    ACTIONS[action]
  } <span class="soft">${moment(notedAt)} (${agoText(notedAt, nowMs)})</span>${
    text !== "" && markup`<br><bdi>${outsideText(text, LONGEST_NOTE)}</bdi>`
  }</li>`;
}
