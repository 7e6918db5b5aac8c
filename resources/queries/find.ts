import type { AttentionKind, FindResult, Ledger } from "../../ledger/mod.ts";
import {
  type AttentionJson,
  attentionJson,
  type FoundJson,
  foundJson,
} from "../views/attention_view.ts";
import { defined } from "../../core/guards.ts";
import { readAttentionPage } from "../../ledger/for_resources.ts";
import type { Page, PageParams } from "./orders.ts";

/** A text as people paste it, and what of it may name something. */
interface SearchedText {
  /** Whether it is an e-mail address or a phone number. */
  readonly isContact: boolean;
  /** What to look for, one after another until something is found. */
  readonly candidates: readonly Candidate[];
}

/** What may name something. */
interface Candidate {
  /** The name, or how it begins. */
  readonly text: string;
  /** How the name ends, of one that was shortened; else null. */
  readonly end: string | null;
}

/** Parts of a link that are looked for. */
const LINK_PARTS = 4;

/** Signs that are copied along and mean nothing. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** What people write before a name. */
const TITLE =
  /^(?:order|reference|ref|transaction|tx|session|click|user|wallet|card)(?:\s+(?:id|no\.?|number))?\s*[:#]?\s+/i;

const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const PHONE = /^\+\d[\d ()./-]{5,}\d$|^0\d[\d]*[ ()./-][\d ()./-]*\d$/;
const LINK = /^(?:https?:\/\/|www\.)|^[a-z0-9-]+(?:\.[a-z0-9-]+)+\/\S/i;
const SHORTENED = /^(\S{4,}?)(?:\u2026|\.{2,3})(\S{3,})$/;

/**
 * Reads what people paste into a search: `#YBR2MP`, `order YBR2MP`, a link to an
 * explorer, a hash that was shortened.
 */
export function searchedText(pasted: string): SearchedText {
  const text = pasted.replaceAll(INVISIBLE, "").trim();
  const isContact = EMAIL.test(text) || PHONE.test(text);
  const bare = text.replace(TITLE, "").replace(
    /^["'#\u201c]+|["'\u201d]+$/g,
    "",
  )
    .trim();
  const named = LINK.test(bare) ? partsOfLink(bare) : [bare];
  const all: Candidate[] = [
    ...named.flatMap(shortened),
    ...named.map(whole),
    whole(bare),
    whole(text),
  ];
  return {
    isContact,
    candidates: all.filter((one, at) =>
      one.text !== "" &&
      all.findIndex((other) =>
          other.text === one.text && other.end === one.end
        ) === at
    ),
  };
}

/** What begins and ends a name that was shortened. */
function shortened(text: string): Candidate[] {
  const [, begins, end] = SHORTENED.exec(text) ?? [];
  return begins === undefined || end === undefined
    ? []
    : [{ text: begins, end }];
}

function whole(text: string): Candidate {
  return { text, end: null };
}

/** The longest parts of a link: what it leads to is longer than where that is. */
function partsOfLink(link: string): readonly string[] {
  const [, ...parts] = link.replace(/^https?:\/\//i, "").split(/[/?#&=]+/);
  return parts.map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  }).filter((part) => part.length >= 4)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, LINK_PARTS);
}

/** Orders and users that a text leads to. */
export interface FindJson {
  /** Each as `find --json` prints it; whole matches first. */
  readonly items: readonly FoundJson[];
  /** Whether there are more than are listed. */
  readonly more: boolean;
  /**
   * What you recorded under exactly this session, click id or reference, even
   * if no order matches it; the latest ten, latest first.
   */
  readonly recorded: FindResult["recorded"];
}

/**
 * Finds orders and users by what a person pasted.
 *
 * @throws {RangeError} When the text is empty.
 */
export async function findJson(
  ledger: Ledger,
  pasted: string,
  nowMs: number,
): Promise<FindJson> {
  let recorded: FindJson["recorded"] = [];
  for (const { text, end } of searchedText(pasted).candidates) {
    const { found, ...rest } = await ledger.find(text);
    const items = found.filter(({ matches }) =>
      end === null ||
      matches.some(({ value }) =>
        value.toLowerCase().endsWith(end.toLowerCase())
      )
    ).map((one) => foundJson(one, nowMs));
    if (items.length > 0) return { items, ...rest };
    if (recorded.length === 0) recorded = rest.recorded;
  }
  return { items: [], more: false, recorded };
}

/** Which orders that wait for a person. */
interface AttentionParams extends PageParams {
  /** Only those that wait for this reason, whatever else they wait for. */
  readonly kind?: AttentionKind;
}

/**
 * One page of `attention --json`: the gravest reason first, and of one reason
 * the oldest first.
 *
 * @throws {RangeError} When cursor or limit is wrong.
 */
export async function attentionPage(
  ledger: Ledger,
  { cursor: after, ...query }: AttentionParams,
  nowMs: number,
): Promise<Page<AttentionJson>> {
  const { items, next } = await readAttentionPage(
    ledger.orders,
    nowMs,
    defined({ ...query, after }),
  );
  return { items: items.map((item) => attentionJson(item, nowMs)), next };
}
