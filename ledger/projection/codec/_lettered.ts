import { asSaid } from "./_said.ts";

/** Nothing. */
const NOTHING = "n";
/** What the state says. */
const SAID = "s";
/** The empty text. */
const NO_TEXT = "t";
/** No. */
const FALSE = "f";
/** A list of nothing. */
const NO_LIST = "e";
/** The next of the values. */
const VALUE = "v";

/**
 * Packs values of which most are alike: a letter each, and then those that are
 * not.
 *
 * @param values The values; null for nothing.
 */
export function packLetters(values: readonly unknown[]): unknown[] {
  const packed: unknown[] = [""];
  let letters = "";
  for (let place = 0; place < values.length; place++) {
    const value = values[place];
    if (value === asSaid) letters += SAID;
    else if (value === null) letters += NOTHING;
    else if (value === "") letters += NO_TEXT;
    else if (value === false) letters += FALSE;
    else if (Array.isArray(value) && value.length === 0) letters += NO_LIST;
    else {
      letters += VALUE;
      packed.push(value);
    }
  }
  packed[0] = letters;
  return packed;
}

/** The reverse of {@linkcode packLetters}. */
export function unpackLetters(packed: readonly unknown[]): unknown[] {
  const letters = packed[0] as string;
  const values: unknown[] = new Array(letters.length);
  let next = 1;
  for (let place = 0; place < letters.length; place++) {
    switch (letters[place]) {
      case SAID:
        values[place] = asSaid;
        break;
      case NOTHING:
        values[place] = null;
        break;
      case NO_TEXT:
        values[place] = "";
        break;
      case FALSE:
        values[place] = false;
        break;
      case NO_LIST:
        values[place] = [];
        break;
      default:
        values[place] = packed[next++];
    }
  }
  return values;
}
