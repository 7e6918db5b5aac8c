import { LONGEST_IDENTIFIER } from "../../core/wire/identifier.ts";
import { comparedId } from "./same_id.ts";

/** The texts of a body that may be ids. */
export interface BodyTexts {
  /** Whether the body is JSON. */
  readonly isJson: boolean;
  /**
   * Its whole string values, as ids are compared; of a body that is no JSON,
   * the parts between what no id has.
   */
  readonly texts: ReadonlySet<string>;
}

/** A string of a JSON text; a colon follows the name of a field. */
const LITERAL = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

const decoder = new TextDecoder();

/**
 * Reads the texts of a body that may be ids, wherever they stand in it.
 *
 * @param body The exact bytes.
 */
export function bodyTexts(body: Uint8Array): BodyTexts {
  const texts = new Set<string>();
  const add = (text: string) => {
    if (text !== "" && text.length <= LONGEST_IDENTIFIER) {
      texts.add(comparedId(text));
    }
  };
  const text = decoder.decode(body);
  try {
    JSON.parse(text);
  } catch {
    for (const part of text.split(/[^\w.:-]+/)) add(part);
    return { isJson: false, texts };
  }
  // From the text: of two fields of one name a parser keeps the last alone.
  for (const [literal, colon] of text.matchAll(LITERAL)) {
    if (colon === undefined) add(JSON.parse(literal.trimEnd()));
  }
  return { isJson: true, texts };
}
