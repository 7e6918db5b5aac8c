import { type Markup, markup } from "../markup/markup.ts";
import { prose, sentence } from "../markup/outside.ts";
import { when } from "../markup/times.ts";
import {
  CONDITIONS,
  type HealthLevel,
} from "../../../resources/health/conditions.ts";
import { targetPath } from "../../../resources/views/page_paths.ts";
import { type Finding, stands } from "../../../resources/health/finding.ts";
import {
  HEALTH_PARTS,
  type HealthPartName,
  SUBJECTS,
} from "../../../resources/health/subjects.ts";

/** What a level is called, its style, and a sign that does not depend on colour. */
const LEVELS: Readonly<
  Record<
    HealthLevel,
    { readonly word: string; readonly style: string; readonly sign: string }
  >
> = {
  fine: { word: "fine", style: "good", sign: "●" },
  warning: { word: "look", style: "warn", sign: "▲" },
  problem: { word: "broken", style: "bad", sign: "■" },
  skipped: { word: "not used", style: "unused", sign: "○" },
};

/** The style of a level. */
export function styleOf(level: HealthLevel): string {
  return LEVELS[level].style;
}

/** The health bar of every page: what needs attention is spelled out. */
export function healthBar(
  parts: readonly HealthPart[],
  nowMs: number,
): Markup {
  const told = parts.flatMap(({ name, findings }) =>
    findings.filter(stands).map((one) => words(name, one, nowMs))
  );
  return markup`<aside id="health" class="health" aria-label="Health">
<ul class="parts">${parts.map(chip)}</ul>
${told.length > 0 && markup`<ul class="told">${told}</ul>`}
<details class="meanings"><summary>What each part means</summary>
<dl class="facts">${parts.map(meaning)}</dl></details></aside>`;
}

function chip({ name, level, findings }: HealthPart): Markup {
  const { sign, style, word } = LEVELS[level];
  return markup`<li class="part ${style}"><a href="${PAGES[name]}" title="${
    sentence(detailsOf(findings))
  }"><span aria-hidden="true">${sign}</span> ${name}<span class="word"> ${word}</span></a></li>`;
}

/** The page of each part. */
const PAGES: Readonly<Record<HealthPartName, string>> = {
  Webhooks: "/delivery",
  Polling: "/health#part-Polling",
  Ledger: "/health#part-Ledger",
  Backlog: "/health#part-Backlog",
  Forwarding: "/targets",
  Comparison: "/health#part-Comparison",
};

/** The page that explains what was found and what to do. */
export function explainedAt(
  { code, about }: Pick<Finding, "code" | "about">,
): string {
  switch (CONDITIONS[code].subject) {
    case "delivery":
      return "/delivery";
    case "refusals":
      return "/delivery#refused";
    case "forwarding":
      return about === null ? "/targets" : targetPath(about);
    default:
      return `/health#${code}`;
  }
}

function words(
  name: string,
  finding: HealthPart["findings"][number],
  nowMs: number,
): Markup {
  const { level, since, detail, next } = finding;
  return markup`<li class="${styleOf(level)}"><a href="${
    explainedAt(finding)
  }"><strong>${name}</strong></a> ${prose(detail)}${
    since !== null && markup`, since ${when(since, nowMs)}`
  }. ${
    next !== null && markup`<span class="advice">${prose(ended(next))}</span>`
  }</li>`;
}

function meaning({ name, level, findings }: HealthPart): Markup {
  return markup`<div><dt>${name}</dt><dd>${MEANINGS[name]} <span
class="${styleOf(level)}">${prose(detailsOf(findings))}.</span></dd></div>`;
}

function detailsOf(findings: HealthPart["findings"]): string {
  return findings.map(({ detail }) => detail).join(". ");
}

/** A sentence with its end. */
function ended(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}

/** What each part is about. */
export const MEANINGS: Readonly<Record<HealthPart["name"], string>> = {
  Webhooks: "The service reports what happens to an order at once.",
  Polling: "The service is asked, so that what it reports is confirmed and " +
    "what it did not report is found.",
  Ledger: "What arrives is stored and turned into states.",
  Backlog:
    "What webhooks named waits here until the service is asked about it.",
  Forwarding: "What became known is passed on to your own programs.",
  Comparison: "Each order is compared with what you asked for.",
};

/** One part of the health bar. */
export interface HealthPart {
  /** Its name. */
  readonly name: HealthPartName;
  /** Its level: that of its worst finding, else of its first. */
  readonly level: HealthLevel;
  /** What was found of it, problems first. */
  readonly findings: readonly Pick<
    Finding,
    "code" | "about" | "level" | "since" | "detail" | "next"
  >[];
}

/** The parts of the health bar, made of what was found. */
export function healthParts(
  findings: readonly Finding[],
): readonly HealthPart[] {
  return HEALTH_PARTS.map((name) => {
    const own = findings.filter(({ subject }) =>
      SUBJECTS[subject].part === name
    );
    const told = own.filter(stands).toSorted((a, b) =>
      Number(b.level === "problem") - Number(a.level === "problem")
    );
    const shown = told.length > 0 ? told : own;
    return {
      name,
      level: shown[0]?.level ?? "skipped",
      findings: shown.map(({ code, about, level, since, detail, next }) => ({
        ...{ code, about, level, since, detail, next },
      })),
    };
  });
}
