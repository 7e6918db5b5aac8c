/** A text as people paste it, and what of it may name something. */
export interface SearchedText {
  /** Whether it is an e-mail address or a phone number. */
  readonly isContact: boolean;
  /** What to look for, one after another until something is found. */
  readonly candidates: readonly Candidate[];
}

/** What may name something. */
export interface Candidate {
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
