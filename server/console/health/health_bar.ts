import { type Markup, markup } from "../markup/markup.ts";
import { prose, sentence } from "../markup/outside.ts";
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
  return markup`<div id="health" class="health">
<ul class="parts">${parts.map(chip)}</ul>
${
    told.length > 0 &&
    markup`<ul class="told">${told.map((part) => words(part, nowMs))}</ul>`
  }
<details class="meanings"><summary>What each part means</summary>
<dl class="facts">${parts.map(meaning)}</dl></details></div>`;
}

function chip({ name, level, detail }: HealthPart): Markup {
  const { sign, word } = LEVELS[level];
  return markup`<li class="part ${level}" title="${sentence(detail)}">
<span aria-hidden="true">${sign}</span> ${name}<span class="word"> ${word}</span></li>`;
}

function words(
  { name, level, since, detail, advice }: HealthPart,
  nowMs: number,
): Markup {
  return markup`<li class="${level}"><strong>${name}</strong> ${prose(detail)}${
    since !== null && markup`, since ${when(since, nowMs)}`
  }. ${
    advice !== null &&
    markup`<span class="advice">${prose(ended(advice))}</span>`
  }</li>`;
}

function meaning({ name, level, detail }: HealthPart): Markup {
  return markup`<div><dt>${name}</dt><dd>${MEANINGS[name]} <span
class="${level}">${prose(detail)}.</span></dd></div>`;
}

/** A sentence with its end. */
function ended(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}

const MEANINGS: Readonly<Record<HealthPart["name"], string>> = {
  Webhooks: "The service reports what happens to an order at once.",
  Polling: "The service is asked, so that what it reports is confirmed and " +
    "what it did not report is found.",
  Ledger: "What came is stored and worked out.",
  Backlog:
    "What webhooks named waits here until the service is asked about it.",
  Forwarding: "What became known is passed on to your own programs.",
  Comparison: "Each order is compared with what you asked for.",
};
