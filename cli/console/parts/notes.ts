import type { Note } from "../../../ledger/attention/note.ts";
import { isAcknowledged } from "../../../ledger/attention/note.ts";
import type { PageContext } from "../console_parts.ts";
import { html, type Markup, NOTHING } from "../markup/html.ts";
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
  { operates, formToken, nowMs }: PageContext,
  noted: Noted,
  notes: readonly Note[],
): Markup {
  const list = notes.length === 0
    ? NOTHING
    : html`<ul class="notes">${
      notes.map(({ author, action, text, notedAt }) =>
        html`<li><strong>${outsideText(author, 64)}</strong> ${
          ACTIONS[action]
        } <span class="soft">${moment(notedAt)} (${
          agoText(notedAt, nowMs)
        })</span>${
          text !== "" && html`<br><bdi>${outsideText(text, LONGEST_NOTE)}</bdi>`
        }</li>`
      )
    }</ul>`;
  if (!operates) return list;
  const { entity, entityId, reasons, back } = noted;
  const isDealtWith = isAcknowledged(reasons, notes);
  return html`
    ${list}<details>
      <summary>Note or acknowledge</summary>
      <form class="note-form" action="/notes" method="post">
        <input type="hidden" name="form" value="${formToken}">
        <input type="hidden" name="entity" value="${entity}">
        <input type="hidden" name="id" value="${entityId}">
        <input type="hidden" name="reasons" value="${reasons.join(" ")}">
        <input type="hidden" name="back" value="${back}">
        <label>Note <textarea name="text" rows="2" maxlength="${LONGEST_NOTE}"></textarea></label>
        <div
          class="row"><button name="action" value="note">Note</button>${reasons
                .length > 0 &&
            (isDealtWith
              ? html`<button name="action" value="reopen">Open again</button>`
              : html`<button name="action" value="acknowledge" class="primary">Acknowledge</button>`)}</div>
      </form>
    </details>
  `;
}
