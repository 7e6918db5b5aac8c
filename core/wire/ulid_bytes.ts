const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 26;

/** Values of the characters by their code, and -1 for all others. */
const values = new Int8Array(128).fill(-1);
for (let value = 0; value < ALPHABET.length; value++) {
  values[ALPHABET.charCodeAt(value)] = value;
}

/**
 * Writes the 16 bytes of a ULID.
 *
 * @param text The ULID, in capitals.
 * @param bytes Where they go.
 * @param at At which offset.
 * @throws {TypeError} When the text is not a ULID.
 */
export function writeUlid(text: string, bytes: Uint8Array, at: number): void {
  let bits = 0;
  let held = 0;
  let to = at;
  let valid = text.length === LENGTH && (values[text.charCodeAt(0)] ?? -1) < 8;
  for (let index = 0; valid && index < LENGTH; index++) {
    const value = values[text.charCodeAt(index)] ?? -1;
    valid = value >= 0;
    bits = (bits << 5 | value) & 0x1fff;
    // The first character stands for three bits.
    held += index === 0 ? 3 : 5;
    if (held >= 8) {
      held -= 8;
      bytes[to++] = bits >> held;
    }
  }
  if (valid) return;
  throw new TypeError(
    `Cannot store a delivery: its id is not a ULID: ${JSON.stringify(text)}`,
  );
}

/**
 * Reads a ULID from its 16 bytes.
 *
 * @param bytes Where they are.
 * @param at At which offset.
 */
export function readUlid(bytes: Uint8Array, at: number): string {
  const first = bytes[at] ?? 0;
  let text = ALPHABET.charAt(first >> 5);
  let bits = first & 0x1f;
  let held = 5;
  for (let index = 1; text.length < LENGTH; index++) {
    while (held >= 5) {
      held -= 5;
      text += ALPHABET.charAt(bits >> held & 0x1f);
    }
    bits = (bits << 8 | (bytes[at + index] ?? 0)) & 0xfff;
    held += 8;
  }
  return text;
}
