import {
  type Markup,
  markup,
  prose,
  sentence,
  when,
} from "../markup/markup.ts";
import {
  CONDITIONS,
  HEALTH_PARTS,
  type HealthLevel,
  type HealthPartName,
  SUBJECTS,
} from "../../../resources/health/conditions.ts";
import {
  type Finding,
  found,
  type LookAtHealth,
  stands,
} from "../../../resources/health/finding.ts";
import { targetPath } from "../../../resources/views/text.ts";
import { sleep } from "../../../core/waiting/waiting.ts";
import { type DeliveryHealth, watchdog } from "../../../sync/mod.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import { CachedValue } from "../context/page_context.ts";

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

/** Interval between two updates of an open page, ms. */
const EVERY_MS = 5000;

/** More open pages than this receive no changes. */
const MOST_PAGES = 100;

/** What open pages receive. */
interface Beat {
  /** Health of everything, if it has changed; else null. */
  readonly parts: readonly HealthPart[] | null;
  /** Up to which event the ledger is worked out: what a page shows is older. */
  readonly position: number;
}

/**
 * Reports to open pages again and again that the server is there, its health,
 * and whether what they show may have changed.
 */
export class LivePages {
  readonly #health: Pick<HealthWatch, "parts">;
  readonly #position: () => Promise<number>;
  readonly #everyMs: number;
  readonly #ended = new AbortController();
  #pages = 0;

  /** Reports what a watch sees. */
  constructor(
    health: Pick<HealthWatch, "parts">,
    position: () => Promise<number>,
    everyMs: number = EVERY_MS,
  ) {
    this.#health = health;
    this.#position = position;
    this.#everyMs = everyMs;
  }

  /** Whether one more page can follow. */
  get hasRoom(): boolean {
    return this.#pages < MOST_PAGES && !this.#ended.signal.aborted;
  }

  /** Reports at once, and every few seconds. */
  async *follow(left: AbortSignal): AsyncGenerator<Beat> {
    const over = AbortSignal.any([left, this.#ended.signal]);
    this.#pages++;
    try {
      let shown = "";
      while (!over.aborted) {
        const parts = await this.#health.parts();
        const position = await this.#position();
        const text = JSON.stringify(parts);
        yield { parts: text === shown ? null : parts, position };
        shown = text;
        await sleep(this.#everyMs, over).catch(() => {}); // It is over then.
      }
    } finally {
      this.#pages--;
    }
  }

  /** Ends every {@linkcode LivePages.follow}. */
  end(): void {
    this.#ended.abort();
  }
}

/** A look older than this is repeated, ms. */
const OLD_MS = 10_000;

/** The first page waits at most this long, ms. */
const PATIENCE_MS = 500;

/**
 * Health of everything, checked now and then so that no page waits for it for
 * long.
 */
export class HealthWatch {
  /** Health of webhook delivery. */
  readonly delivery: CachedValue<DeliveryHealth>;
  readonly #parts: CachedValue<readonly HealthPart[]>;

  /** Watches a ledger; it does nothing unless asked. */
  constructor(ledger: Ledger, now: () => number, look: LookAtHealth) {
    const how = { now, oldMs: OLD_MS };
    this.delivery = new CachedValue(async () => {
      const { health } = await watchdog(ledger.driver, { nowMs: now() });
      return health;
    }, how);
    this.#parts = new CachedValue(async () => healthParts(await look()), how);
  }

  /** What is known now, or soon; else that it is being checked. */
  async parts(): Promise<readonly HealthPart[]> {
    const waited = new AbortController();
    const late = sleep(PATIENCE_MS, waited.signal).then(
      () => UNDER_WAY,
      () => UNDER_WAY,
    );
    try {
      return await Promise.race([this.#parts.value(), late]);
    } finally {
      waited.abort();
    }
  }

  /** Waits for a look that is under way, so that the ledger can be closed. */
  async settled(): Promise<void> {
    await this.#parts.settled();
    await this.delivery.settled();
  }
}

const UNDER_WAY: readonly HealthPart[] = healthParts([]).map((part) => ({
  ...part,
  findings: [{
    ...found("not_looked_at"),
    level: "skipped",
    detail: "It is being checked; load the page again",
  }],
}));
