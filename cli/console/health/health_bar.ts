import { html, type Markup } from "../markup/html.ts";
import { sentence } from "../markup/outside.ts";
import { when } from "../markup/times.ts";
import type { HealthLevel, HealthPart } from "./health_part.ts";

/** What a level is called, and a sign that does not depend on colour. */
const LEVELS: Readonly<
  Record<HealthLevel, { readonly word: string; readonly sign: string }>
> = {
  good: { word: "fine", sign: "●" },
  warn: { word: "look", sign: "▲" },
  bad: { word: "broken", sign: "■" },
  unused: { word: "not used", sign: "○" },
};

/** The health bar of every page: what needs a look comes with its words. */
export function healthBar(
  parts: readonly HealthPart[],
  nowMs: number,
): Markup {
  const told = parts.filter(({ level }) => level === "bad" || level === "warn");
  return html`<div id="health" class="health">
<ul class="parts">${
    parts.map(({ name, level, detail }) =>
      html`
        <li class="part ${level}"
          title="${sentence(detail)}"><span aria-hidden="true">${LEVELS[level]
            .sign}</span> ${name}<span
                class="word"> ${LEVELS[level].word}</span></li>
      `
    )
  }</ul>${
    told.length > 0 &&
    html`<ul class="told">${
      told.map(({ name, level, since, detail, advice }) =>
        html`
          <li
            class="${level}"><strong>${name}</strong> ${sentence(
              detail,
            )}${since !== null &&
              html`, since ${when(since, nowMs)}`}.${advice !== null && html`
              <span class="advice">${advice}.</span>
            `}</li>
        `
      )
    }</ul>`
  }
<details class="meanings"><summary>What each part means</summary><dl class="facts">${
    parts.map(({ name, level, detail }) =>
      html`
        <div>
          <dt>${name}</dt>
          <dd>${MEANINGS[name]} <span class="${level}">${sentence(
            detail,
          )}.</span></dd>
        </div>
      `
    )
  }</dl></details></div>`;
}

const MEANINGS: Readonly<Record<HealthPart["name"], string>> = {
  Webhooks: "The service reports what happens to an order at once.",
  Polling: "The service is asked, so that what it reports is confirmed and " +
    "what it did not report is found.",
  Ledger: "What came is stored and worked out.",
  Backlog:
    "What webhooks named waits here until the service is asked about it.",
  Forwarding: "What became known is passed on to your own programs.",
};
