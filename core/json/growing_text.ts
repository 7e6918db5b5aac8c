/** Characters that are put together before they are made one flat text. */
const flatAfter = 65_536;

/**
 * A text that is put together from many pieces. A plain `+=` keeps an object
 * for each piece until the end, many times the size of the text itself.
 */
export class GrowingText {
  readonly #parts: string[] = [];
  #tail = "";

  /** Appends a piece. */
  add(piece: string): void {
    this.#tail += piece;
    if (this.#tail.length > flatAfter) this.#flatten();
  }

  /** The whole text. */
  toString(): string {
    return this.#parts.length === 0
      ? this.#tail
      : this.#parts.join("") + this.#tail;
  }

  #flatten(): void {
    // Looking at a character makes the engine copy the pieces into one text.
    this.#tail.charCodeAt(0);
    this.#parts.push(this.#tail);
    this.#tail = "";
  }
}
